// Marks what the shared library shows to the outside; everything else is hidden.
#pragma once

#if defined(__GNUC__)
#define WEFT_EXPORT __attribute__((visibility("default")))
#else
#define WEFT_EXPORT
#endif
