// An endpoint for one-sided operations has no calls for messages.
// expect: no matching (member )?function for call to .*send
#include <weft/weft.hpp>

#ifdef CONTROL
using handle = weft::endpoint<weft::caps::rma | weft::caps::tagged>;
#else
using handle = weft::endpoint<weft::caps::rma>;
#endif

weft::status f(handle& ep, weft::const_buffer b, weft::peer to) { return ep.send(b, to, weft::tag{1}, weft::token{}); }
