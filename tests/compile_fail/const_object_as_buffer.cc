// bytes_of a constant object is for sending only.
// expect: (could not convert|cannot convert|no matching (member )?function|conversion from|no viable conversion).*
#include <weft/weft.hpp>

using handle = weft::endpoint<weft::caps::tagged>;

#ifdef CONTROL
using number = int;
#else
using number = const int;
#endif

weft::status f(handle& ep, number& n) { return ep.recv(weft::bytes_of(n), weft::tag{1}, weft::token{}); }
