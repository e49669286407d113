// WEFT_ASSERT: invariants of our own, checked in debug and sanitizer builds only.
//
// Whatever came from outside (a caller, a peer, the kernel) is a checked error and never an assertion: a release
// build of the library must not stop its host.
#pragma once

#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <cassert>
#ifdef NDEBUG
// An optimised sanitizer build: assert() is compiled out there, the trap is not.
#define WEFT_ASSERT(condition) ((condition) ? static_cast<void>(0) : __builtin_trap())
#else
#define WEFT_ASSERT(condition) assert(condition)
#endif
#else
#define WEFT_ASSERT(condition) static_cast<void>(0)
#endif
