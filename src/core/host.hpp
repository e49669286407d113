// What the core lends to providers (struct weft_host): the log and the values of the settings.
//
// Counted, because a provider's objects may outlive the fabric. Everything a provider can see is fixed before the
// first provider sees it, so only the count and the log need care between threads.
#pragma once
#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <weft/plugin.h>

#include "core/log.hpp"

namespace weft::core {

class host final : public weft_host {
  public:
    explicit host(log_sink sink);
    host(const host&) = delete;
    host& operator=(const host&) = delete;

    logger log;
    std::map<std::string, std::string, std::less<>> values;  // settings in the form providers read

    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        // Pairs with itself: what other owners did happens before the end.
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

  private:
    ~host() = default;
    std::atomic<std::size_t> references_{1};
};

// One reference to a host.
class host_ptr {
  public:
    explicit host_ptr(host* adopted) noexcept : host_(adopted) {}
    host_ptr(const host_ptr& o) noexcept : host_(o.host_) {
        if (host_ != nullptr) host_->retain();
    }
    host_ptr(host_ptr&& o) noexcept : host_(std::exchange(o.host_, nullptr)) {}
    host_ptr& operator=(host_ptr o) noexcept {
        std::swap(host_, o.host_);
        return *this;
    }
    ~host_ptr() {
        if (host_ != nullptr) host_->release();
    }
    host* get() const noexcept { return host_; }
    host* operator->() const noexcept { return host_; }

  private:
    host* host_;
};

}  // namespace weft::core
