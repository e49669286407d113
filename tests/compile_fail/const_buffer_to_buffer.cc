// A buffer for sending does not become one for receiving.
// expect: (could not convert|cannot convert|no matching (member )?function|conversion from|no viable conversion).*
#include <weft/weft.hpp>

#ifdef CONTROL
weft::const_buffer f(weft::buffer b) { return b; }
#else
weft::buffer f(weft::const_buffer b) { return b; }
#endif
