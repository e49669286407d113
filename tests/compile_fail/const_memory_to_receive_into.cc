// Constant memory cannot be received into.
// expect: (could not convert|cannot convert|no matching (member )?function|conversion from|no viable conversion).*
#include <span>
#include <weft/weft.hpp>

using handle = weft::endpoint<weft::caps::tagged>;

#ifdef CONTROL
using room = std::span<int>;
#else
using room = std::span<const int>;
#endif

weft::status f(handle& ep, room memory) { return ep.recv(memory, weft::tag{1}, weft::token{}); }
