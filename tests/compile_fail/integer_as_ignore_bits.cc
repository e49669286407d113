// The mask of a receive is not an integer that could be mistaken for a second tag.
// expect: (could not convert|cannot convert|no matching (member )?function).*
#include <weft/weft.hpp>

using handle = weft::endpoint<weft::caps::tagged>;

#ifdef CONTROL
weft::status f(handle& ep, weft::buffer b) { return ep.recv(b, weft::tag{1}, weft::token{}, weft::ignore_bits{7}); }
#else
weft::status f(handle& ep, weft::buffer b) { return ep.recv(b, weft::tag{1}, weft::token{}, 7); }
#endif
