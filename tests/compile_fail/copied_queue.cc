// A completion queue has one owner.
// expect: (use of deleted function|call to (implicitly-)?deleted copy constructor).*(queue|handle|completion_queue)
#include <utility>
#include <weft/weft.hpp>

using queue = weft::completion_queue<>;

#ifdef CONTROL
queue f(queue& from) { return queue{std::move(from)}; }
#else
queue f(queue& from) { return queue{from}; }
#endif
