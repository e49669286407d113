// An endpoint has one owner.
// expect: (use of deleted function|call to (implicitly-)?deleted copy constructor).*(queue|handle|endpoint)
#include <utility>
#include <weft/weft.hpp>

using handle = weft::endpoint<weft::caps::tagged>;

#ifdef CONTROL
handle f(handle& from) { return handle{std::move(from)}; }
#else
handle f(handle& from) { return handle{from}; }
#endif
