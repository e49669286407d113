#include "perf_work.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "perf_loops.hpp"
#include "sizes.hpp"

namespace weft::tool {
namespace {

constexpr std::size_t page = 4096;

struct free_pages {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, std::align_val_t{page}); }
};
using pages = std::unique_ptr<std::byte, free_pages>;

// Written once, so that no slice pays for page faults; null when there is no memory.
pages allocate(std::uint64_t size) noexcept {
    pages p(static_cast<std::byte*>(::operator new(size, std::align_val_t{page}, std::nothrow)));
    if (p) std::memset(p.get(), 0x5a, size);
    return p;
}

template <class Family, class Entry, checking Check>
class concrete_end final : public work_end {
  public:
    concrete_end(domain d, completion_queue<Entry> q, endpoint<Family::abilities> ep, pages out, pages in,
                 std::uint64_t memory_size, watch& w) noexcept
        : domain_(std::move(d)),
          out_(std::move(out)),
          in_(std::move(in)),
          memory_size_(memory_size),
          watch_(w),
          queue_(std::move(q)),
          endpoint_(std::move(ep)) {}

    address own_address() const override { return endpoint_.address(); }
    result<void> connect(std::span<const std::byte> other) override {
        auto found = domain_.insert(other);
        if (!found) return found.error();
        peer_ = *found;
        loops_.emplace(endpoint_, queue_, peer_, transfer_memory{{out_.get(), memory_size_}, {in_.get(), memory_size_}},
                       watch_);
        return {};
    }
    result<path_info> path() const override { return endpoint_.path(peer_); }
    const offer& what() const noexcept override { return domain_.what(); }

    bool prepare(const slice_order& order) override { return loops_->prepare(order); }
    double initiate(const slice_order& order, const cycle_clock& clock, histogram& times) override {
        if (order.test == quantity::latency) return loops_->ping(order, clock, times);
        return loops_->stream(order) ? 0 : -1;
    }
    double respond(const slice_order& order, const cycle_clock& clock) override {
        if (order.test == quantity::latency) return loops_->pong(order) ? 0 : -1;
        return loops_->sink(order, clock);
    }
    bool poll() override { return loops_->poll(); }

  private:
    domain domain_;
    pages out_, in_;
    std::uint64_t memory_size_;
    watch& watch_;
    completion_queue<Entry> queue_;
    endpoint<Family::abilities> endpoint_;  // goes first: until then the memory above is in use
    peer peer_ = any_peer;
    std::optional<loop_end<Family, Entry, Check>> loops_;
};

template <class Family, class Entry, checking Check>
result<std::unique_ptr<work_end>> open_as(const fabric& fab, const work_terms& terms, watch& w) {
    needs want;
    want.threads = terms.threads;
    want.message_size_min = terms.size_max;
    want.posted_receives_min = terms.window_max;
    want.inject_size_min = 0;
    want.iov_count_min = 1;
    want.provider = terms.provider;
    auto dom = fab.best(Family::abilities, want);
    if (!dom) return std::move(dom).error();
    // Twice the window: its receives and its sends may all wait unread.
    auto queue = dom->template open_queue<Entry>({.depth = std::max<std::uint64_t>(1024, 2 * terms.window_max)});
    if (!queue) return std::move(queue).error();
    auto ep = dom->template open<Family::abilities>(want, *queue);
    if (!ep) return std::move(ep).error();
    pages out = allocate(terms.memory_size);
    pages in = allocate(terms.memory_size);
    if (!out || !in)
        return failure{errc::no_memory, 0,
                       fmt::format("there is no memory for two buffers of {}; use smaller sizes or a smaller window",
                                   size_text(terms.memory_size))};
    return std::unique_ptr<work_end>(std::make_unique<concrete_end<Family, Entry, Check>>(
        *std::move(dom), *std::move(queue), *std::move(ep), std::move(out), std::move(in), terms.memory_size, w));
}

}  // namespace

std::uint32_t window_for(std::uint64_t size, const work_terms& terms) noexcept {
    if (terms.check == checking::off || size == 0) return terms.window_max;
    const std::uint64_t fit = std::max<std::uint64_t>(1, checked_memory_max / size);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(terms.window_max, fit));
}

std::uint64_t memory_size_for(std::span<const std::uint64_t> sizes, const work_terms& terms) noexcept {
    std::uint64_t most = buffer_size_min;
    for (const std::uint64_t size : sizes)
        most = std::max(most, terms.check == checking::on ? size * window_for(size, terms) : size);
    return most;
}

bool within(const slice_order& order, const work_terms& terms) noexcept {
    if (order.size > terms.size_max || order.count == 0 || order.window == 0 || order.window > terms.window_max)
        return false;
    return order.size * (terms.check == checking::on ? order.window : 1) <= terms.memory_size;
}

// A lean queue format where nothing but arrival matters; sizes are looked at when checking.
result<std::unique_ptr<work_end>> work_end::open(const fabric& fab, const work_terms& terms, watch& w) {
    if (terms.op == family::send)
        return terms.check == checking::on ? open_as<untagged_family, entry::tagged, checking::on>(fab, terms, w)
                                           : open_as<untagged_family, entry::tokens, checking::off>(fab, terms, w);
    return terms.check == checking::on ? open_as<tagged_family, entry::tagged, checking::on>(fab, terms, w)
                                       : open_as<tagged_family, entry::tokens, checking::off>(fab, terms, w);
}

}  // namespace weft::tool
