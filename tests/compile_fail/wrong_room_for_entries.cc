// The room given to poll has the queue's entry format.
// expect: (could not convert|cannot convert|no matching (member )?function|no viable conversion).*
#include <weft/weft.hpp>

#ifdef CONTROL
using format = weft::entry::tagged;
#else
using format = weft::entry::message;
#endif

bool f(weft::completion_queue<weft::entry::tagged>& q, std::span<format> room) { return q.poll(room).empty(); }
