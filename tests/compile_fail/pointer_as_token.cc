// A pointer becomes a token only when it is said so.
// expect: (could not convert|cannot convert|no matching (member )?function).*
#include <weft/weft.hpp>

using handle = weft::endpoint<weft::caps::msg>;

#ifdef CONTROL
weft::status f(handle& ep, weft::const_buffer b, void* mine) { return ep.send(b, weft::peer{0}, weft::token{mine}); }
#else
weft::status f(handle& ep, weft::const_buffer b, void* mine) { return ep.send(b, weft::peer{0}, mine); }
#endif
