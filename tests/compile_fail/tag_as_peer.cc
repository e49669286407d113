// A tag is not a destination.
// expect: (could not convert|cannot convert|no matching (member )?function).*
#include <weft/weft.hpp>

using handle = weft::endpoint<weft::caps::tagged>;

#ifdef CONTROL
weft::status f(handle& ep, weft::const_buffer b) { return ep.send(b, weft::peer{0}, weft::tag{1}, weft::token{}); }
#else
weft::status f(handle& ep, weft::const_buffer b) { return ep.send(b, weft::tag{0}, weft::tag{1}, weft::token{}); }
#endif
