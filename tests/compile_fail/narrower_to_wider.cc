// A handle of fewer abilities does not become one of more.
// expect: conversion from .*endpoint<.*>.? to non-scalar type|no viable conversion
#include <utility>
#include <weft/weft.hpp>

using narrow = weft::endpoint<weft::caps::tagged>;
using wide = weft::endpoint<weft::caps::tagged | weft::caps::msg>;

#ifdef CONTROL
void f(wide& from) {
    narrow to = std::move(from);
    (void)to;
}
#else
void f(narrow& from) {
    wide to = std::move(from);
    (void)to;
}
#endif
