// An endpoint for tagged messages cannot receive untagged ones.
// expect: no matching (member )?function for call to .*recv
#include <weft/weft.hpp>

#ifdef CONTROL
using handle = weft::endpoint<weft::caps::tagged | weft::caps::msg>;
#else
using handle = weft::endpoint<weft::caps::tagged>;
#endif

weft::status f(handle& ep, weft::buffer b) { return ep.recv(b, weft::token{}); }
