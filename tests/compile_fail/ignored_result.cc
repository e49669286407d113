// What set-up answers must be looked at.
// expect: (ignoring return value|ignoring returned value of type).*nodiscard|Wunused-result
#include <weft/weft.hpp>

void f(weft::domain& d) {
#ifdef CONTROL
    if (!d.resolve("shm://0")) return;
#else
    d.resolve("shm://0");
#endif
}
