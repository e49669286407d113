// A provider made of functions the test supplies. Opens no domain unless told how.
#pragma once
#include <functional>
#include <string>

#include <weft/plugin.h>

namespace weft::core::test {

class fake_provider : public weft_provider {
  public:
    explicit fake_provider(const char* called) : weft_provider{&table_, called, "made by a test", nullptr, 0} {}
    fake_provider(const fake_provider&) = delete;
    fake_provider& operator=(const fake_provider&) = delete;

    weft_provider_ops table_{
        sizeof(weft_provider_ops),
        [](weft_provider* p, weft_host* h, const weft_needs* n, weft_sink* s) {
            auto& self = *static_cast<fake_provider*>(p);
            ++self.probes;
            if (self.on_probe) self.on_probe(h, *n, s);
        },
        [](weft_provider* p, weft_host* h, const char*, const weft_needs* n, weft_failure* f) -> weft_domain* {
            auto& self = *static_cast<fake_provider*>(p);
            return self.on_open ? self.on_open(h, *n, f) : nullptr;
        }};
    std::function<void(weft_host*, const weft_needs&, weft_sink*)> on_probe;
    std::function<weft_domain*(weft_host*, const weft_needs&, weft_failure*)> on_open;
    int probes = 0;

    // Answers each probe with one offer of this rank.
    void offers(std::int32_t rank, const char* device = "") {
        on_probe = [rank, device](weft_host*, const weft_needs& n, weft_sink* s) {
            weft_offer o{};
            o.size = sizeof o;
            o.provider = "an impostor";  // the core knows better
            o.device = device;
            o.capabilities = n.capabilities;
            o.rank = rank;
            s->offer(s, &o);
        };
    }
};

}  // namespace weft::core::test
