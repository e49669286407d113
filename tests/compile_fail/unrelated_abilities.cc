// Handles whose abilities are neither more nor fewer do not convert either way.
// expect: conversion from .*endpoint<.*>.? to non-scalar type|no viable conversion
#include <utility>
#include <weft/weft.hpp>

#ifdef CONTROL
using from_type = weft::endpoint<weft::caps::msg | weft::caps::tagged>;
#else
using from_type = weft::endpoint<weft::caps::msg>;
#endif

void f(from_type& from) {
    weft::endpoint<weft::caps::tagged> to = std::move(from);
    (void)to;
}
