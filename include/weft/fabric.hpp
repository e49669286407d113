// The root object: settings, providers, discovery. A program can have several; there are no globals behind it.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
#include "domain.hpp"
#include "log.hpp"
#include "needs.hpp"
#include "offer.hpp"
#include "result.hpp"
#include "settings.hpp"

namespace weft {

struct fabric_options {
    std::map<std::string, std::string> settings{};  // names as in setting_info
    log_sink sink{};                                // empty: standard error
    bool load_plugins = true;
};

struct provider_info {
    std::string name, text;
    std::string origin;  // "built in", or the plug-in's file
    bool available = true;  // false: known by name, not part of this build
};

class fabric {
  public:
    // Reads settings and loads plug-ins. Fails only on what the program itself passed: an unknown setting or a
    // value out of range. A bad environment, file or plug-in is reported to the sink once and skipped.
    WEFT_EXPORT static result<fabric> open(fabric_options options = {});

    // Every way of meeting the needs, best first, and why the others are not among them. No side effects: no
    // thread, file, socket or device is left open.
    WEFT_EXPORT discovery offers(capset, const needs& = {}, const preferences& = {}) const;

    WEFT_EXPORT result<domain> open_domain(const offer&, const needs& = {}) const;

    // The best offer, opened; or a failure whose text lists every refusal. With a target address, the best
    // provider that reaches it.
    WEFT_EXPORT result<domain> best(capset, const needs& = {}, const preferences& = {}) const;
    WEFT_EXPORT result<domain> best_for(std::string_view target, capset, const needs& = {}) const;

    WEFT_EXPORT std::vector<provider_info> providers() const;
    WEFT_EXPORT std::vector<setting_info> settings() const;
    // Everything odd that was noticed on the way: unknown settings, bad plug-ins; one sentence each.
    WEFT_EXPORT std::vector<std::string> warnings() const;

    struct state;
    explicit fabric(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}

  private:
    std::shared_ptr<state> state_;
};

WEFT_EXPORT const char* version() noexcept;  // "0.1.0"

}  // namespace weft
