// What cannot be copied byte by byte cannot be sent.
// expect: (could not convert|cannot convert|no matching (member )?function|conversion from|no viable conversion).*
#include <span>
#include <string>
#include <weft/weft.hpp>

using handle = weft::endpoint<weft::caps::tagged>;

#ifdef CONTROL
using element = long;
#else
using element = std::string;
#endif

weft::status f(handle& ep, std::span<element> values) {
    return ep.send(values, weft::peer{0}, weft::tag{1}, weft::token{});
}
