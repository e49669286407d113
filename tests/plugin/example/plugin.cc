// What makes the provider a plug-in: the one exported function.
#include "loop.hpp"

extern "C" __attribute__((visibility("default"))) const weft_plugin* weft_plugin_entry(void) {
    static weft_provider* const providers[] = {&weft_provider_loop};
    static const weft_plugin plugin = {WEFT_PLUGIN_MAGIC, WEFT_SPI_VERSION, "loop", "1.0", providers, 1};
    return &plugin;
}
