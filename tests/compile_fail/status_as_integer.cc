// A status is not a number that could be compared with a count.
// expect: cannot convert|no viable conversion
#include <weft/weft.hpp>

#ifdef CONTROL
bool f(weft::status s) { return static_cast<bool>(s); }
#else
int f(weft::status s) { return s; }
#endif
