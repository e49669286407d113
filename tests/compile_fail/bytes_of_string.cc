// The bytes of a string object are not its text; bytes_of refuses to hand them out.
// expect: no matching function for call to .*bytes_of
#include <string>
#include <weft/weft.hpp>

#ifdef CONTROL
using object = double;
#else
using object = std::string;
#endif

weft::const_buffer f(const object& o) { return weft::bytes_of(o); }
