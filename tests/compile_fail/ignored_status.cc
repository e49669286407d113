// The answer of a call must be looked at.
// expect: (ignoring return value|ignoring returned value of type).*nodiscard|Wunused-result
#include <weft/weft.hpp>

using handle = weft::endpoint<weft::caps::tagged>;

void f(handle& ep, weft::const_buffer b) {
#ifdef CONTROL
    if (ep.inject(b, weft::peer{0}, weft::tag{1}).again()) return;
#else
    ep.inject(b, weft::peer{0}, weft::tag{1});
#endif
}
