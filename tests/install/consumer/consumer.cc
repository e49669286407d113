// Opens the installed library and looks at what it offers: enough to need its headers and its symbols.
#include <cstdio>

#include <weft/weft.hpp>

int main() {
    auto fabric = weft::fabric::open();
    if (!fabric) {
        std::fputs(fabric.error().text.c_str(), stderr);
        return 1;
    }
    std::puts("opened");
    return 0;
}
