#include "core/discovery.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "core/convert.hpp"

namespace weft::core {
namespace {

// The core's side of one probe. Exceptions must not pass through the provider's C code.
class collector final : public weft_sink {
  public:
    collector(const provider_entry& who, host& lender, discovery& into)
        : weft_sink{take_offer, take_refusal}, who_(who), lender_(lender), into_(into) {}

    bool heard_something() const noexcept { return heard_; }
    bool out_of_memory() const noexcept { return failed_; }

  private:
    static collector& of(weft_sink* s) noexcept { return *static_cast<collector*>(s); }
    static void take_offer(weft_sink* s, const weft_offer* o) noexcept {
        constexpr std::size_t version_1 = offsetof(weft_offer, details) + sizeof(const char*);
        of(s).take(o, version_1, of(s).into_.offers, "an offer");
    }
    static void take_refusal(weft_sink* s, const weft_refusal* r) noexcept {
        constexpr std::size_t version_1 = offsetof(weft_refusal, remedy) + sizeof(const char*);
        of(s).take(r, version_1, of(s).into_.refusals, "a refusal");
    }
    template <class C, class List>
    void take(const C* c, std::size_t size_min, List& list, const char* what) noexcept try {
        if (c == nullptr || c->size < size_min)
            return lender_.log.log(log_level::warning, who_.name,
                                   std::string("gave ") + what + " of an unknown layout; it is left out");
        list.push_back(from_c(*c, who_.name));
        heard_ = true;
    } catch (...) {
        failed_ = true;
    }

    const provider_entry& who_;
    host& lender_;
    discovery& into_;
    bool heard_ = false, failed_ = false;
};

bool refused_by_core(capset c, discovery& into) {
    if (c.empty()) {
        into.refusals.push_back(
            {"weft", "", "capabilities", "none", text_of(caps::all), "name at least one, such as weft::caps::tagged"});
        return true;
    }
    if (!caps::all.has(c)) {
        into.refusals.push_back({"weft", "", "capabilities", "unknown bits (" + std::to_string(c.bits) + ")",
                                 text_of(caps::all), "use the constants of weft::caps only"});
        return true;
    }
    return false;
}

refusal other_than_pinned(const provider_entry& e, const std::string& pinned, bool by_program) {
    return {e.name,
            "",
            "provider",
            pinned,
            e.name,
            by_program ? "leave needs::provider empty to let all providers compete"
                       : "clear the setting provider (WEFT_PROVIDER) to let all providers compete"};
}

}  // namespace

provider_choice provider_choice::parse(const std::string& setting) {
    constexpr std::string_view mark = "prefer:";
    if (setting.starts_with(mark)) return {"", setting.substr(mark.size())};
    return {setting, ""};
}

discovery discover(const provider_list& providers, host& lender, capset c, const needs& want, const preferences& like,
                   const provider_choice& chosen) {
    discovery found;
    if (refused_by_core(c, found)) return found;

    // The program is nearer than the setting: whoever wrote it knows what it needs.
    const bool by_program = !want.provider.empty();
    const std::string& only = by_program ? want.provider : chosen.only;
    const std::string& first = !like.provider.empty() ? like.provider : chosen.first;
    if (!only.empty() && providers.find(only) == nullptr) {
        found.refusals.push_back({only, "", "provider", only, providers.names(), providers.explain_unknown(only)});
        return found;
    }
    if (providers.all().empty())
        found.refusals.push_back(
            {"weft", "", "provider", "any", "none", "this build has no provider; check plugin_path"});

    const weft_needs needed = to_c(c, want);
    for (const provider_entry& e : providers.all()) {
        if (!only.empty() && e.name != only) {
            found.refusals.push_back(other_than_pinned(e, only, by_program));
            continue;
        }
        collector sink(e, lender, found);
        e.provider->ops->probe(e.provider, &lender, &needed, &sink);
        if (!sink.heard_something())
            found.refusals.push_back({e.name, "", "an answer", "an offer or a refusal",
                                      sink.out_of_memory() ? "no memory to note it" : "nothing",
                                      "report this to the maker of the provider (" + e.origin + ")"});
    }

    // Lower rank first; what is preferred comes before all; names make the order the same every time.
    const auto key = [&](const offer& o) { return std::tie(o.rank, o.provider, o.device); };
    std::stable_sort(found.offers.begin(), found.offers.end(), [&](const offer& a, const offer& b) {
        const bool a_first = a.provider == first, b_first = b.provider == first;
        return a_first != b_first ? a_first : key(a) < key(b);
    });
    return found;
}

std::string explain(const discovery& found, capset c) {
    std::string text = "no provider meets the needs (" + text_of(c) + "):";
    for (const refusal& r : found.refusals) text += "\n  " + r.text();
    return text;
}

}  // namespace weft::core
