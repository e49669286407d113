// The example plug-in's provider, compiled into this program as if it were built in.
#include "plugin/example/endpoint.cc"
#include "plugin/example/provider.cc"
