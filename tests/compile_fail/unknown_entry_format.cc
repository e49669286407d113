// Only the formats that providers can write; the message says which.
// expect: the entry formats are entry::tokens, entry::message and entry::tagged
#include <weft/weft.hpp>

struct mine {
    weft::token context;
};

#ifdef CONTROL
using format = weft::entry::tokens;
#else
using format = mine;
#endif

bool f(weft::domain& d) { return d.open_queue<format>().has_value(); }
