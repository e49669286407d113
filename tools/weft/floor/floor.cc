#include "floor/floor.hpp"
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>
#include "floor/exchange.hpp"

namespace weft::tool {
namespace {

// Payload that shares the sequence number's line.
constexpr std::size_t line_payload = line_size - sizeof(std::uint64_t);
// Readings of the clock cost 10 to 30 ns: up to here a round trip is so short that several go between two readings.
constexpr std::size_t short_size = 4096;
// Bytes streamed between two readings of the clock.
constexpr std::size_t stream_batch_bytes = 65536;
constexpr std::uint64_t stream_batch_messages_max = 256;

// Calls f with an exchange of slots that copies the smallest fixed number of bytes the message fits in.
template <flow Flow, class F>
auto with_slots(partner_link& link, const floor_buffers& b, std::size_t size, std::size_t window, F f) {
    const auto out = b.out.first(std::max(size, buffer_size_min));
    const auto in = b.in.first(std::max(size, buffer_size_min));
    if (size <= 8) {
        slot_exchange<8, Flow> x(link, out, in, window);
        return f(x);
    }
    if (size <= 24) {
        slot_exchange<24, Flow> x(link, out, in, window);
        return f(x);
    }
    if (size <= line_payload) {
        slot_exchange<line_payload, Flow> x(link, out, in, window);
        return f(x);
    }
    slot_exchange<0, Flow> x(link, out.first(size), in.first(size), window);
    return f(x);
}

request_kind kind_of(quantity what) noexcept {
    switch (what) {
        case quantity::latency: return request_kind::latency;
        case quantity::rate: return request_kind::rate;
        case quantity::bandwidth: break;
    }
    return request_kind::bandwidth;
}

failure invalid(std::string text) { return {errc::invalid_argument, 0, "floor: " + std::move(text)}; }

result<void> check(const floor_buffers& b, const floor_task& t) {
    const std::size_t room = std::min(b.out.size(), b.in.size());
    if (t.size == 0) return invalid("a message of 0 bytes has no copy to measure; use 1");
    if (room < std::max(t.size, buffer_size_min)) {
        return invalid("messages of " + std::to_string(t.size) + " bytes need buffers of at least that and " +
                       std::to_string(buffer_size_min) + " bytes, not " + std::to_string(room));
    }
    if (t.how.window > window_size_max) {
        return invalid("a window of " + std::to_string(t.how.window) + " bytes is larger than the shared " +
                       std::to_string(window_size_max));
    }
    if (t.what == quantity::rate && t.size > rate_size_max) {
        return invalid("rate is measured up to " + std::to_string(rate_size_max) + " bytes; measure bandwidth above");
    }
    if (t.what == quantity::rate && t.how.window < 8 * (t.size + line_size)) {
        return invalid("a rate needs a window of at least eight slots");
    }
    if (t.what == quantity::latency && t.how.how == mechanism::in_line && t.size > window_size_max - line_size) {
        return invalid("an in-line message must fit the shared window");
    }
    if (t.what != quantity::rate && t.how.how == mechanism::blocks &&
        (t.how.block == 0 || t.how.block > t.how.window)) {
        return invalid("the window must hold at least one block, of at least one byte");
    }
    if (t.what == quantity::bandwidth && t.how.how == mechanism::in_line) {
        return invalid("bandwidth is measured with blocks or attach");
    }
    return {};
}

result<double> measure_latency(partner_link& link, const floor_buffers& b, const floor_task& t, const request& r) {
    const ping_pong_plan plan{.rounds_per_batch = t.size <= short_size ? 16u : 1u, .duration_ns = t.duration_ns};
    if (t.how.how == mechanism::in_line) {
        return with_slots<flow::turns>(link, b, t.size, 0, [&](auto& x) -> result<double> {
            x.clear();
            if (!link.ask(r)) return link.why();
            return ping_pong(link, x, plan);
        });
    }
    if (!link.ask(r)) return link.why();
    if (t.how.how == mechanism::blocks) {
        block_exchange x(link, b.out.first(t.size), b.in.first(t.size), t.how);
        return ping_pong(link, x, plan);
    }
    // The address came with the answer to try_attach.
    const std::uint64_t address = link.shared().answer_attach.load(std::memory_order_acquire);  // pairs with serve()
    attach_exchange x(link, b.out.first(t.size), b.in.first(t.size), address);
    return ping_pong(link, x, plan);
}

result<double> measure_rate(partner_link& link, const floor_buffers& b, const floor_task& t, const request& r) {
    const stream_plan plan{.messages_per_batch = stream_batch_messages_max, .duration_ns = t.duration_ns};
    return with_slots<flow::stream>(link, b, t.size, t.how.window, [&](auto& x) -> result<double> {
        x.clear();
        if (!link.ask(r)) return link.why();
        auto per_second = stream(link, x, plan);
        if (!per_second) return per_second;
        return *per_second / 1e6;
    });
}

result<double> measure_bandwidth(partner_link& link, const floor_buffers& b, const floor_task& t, const request& r) {
    const stream_plan plan{
        .messages_per_batch = std::clamp<std::uint64_t>(stream_batch_bytes / t.size, 1, stream_batch_messages_max),
        .duration_ns = t.duration_ns};
    if (!link.ask(r)) return link.why();
    const auto run = [&](auto&& x) -> result<double> {
        auto per_second = stream(link, x, plan);
        if (!per_second) return per_second;
        return *per_second * static_cast<double>(t.size) / 1e6;
    };
    if (t.how.how == mechanism::blocks) {
        return run(block_exchange(link, b.out.first(t.size), b.in.first(t.size), t.how));
    }
    return run(attach_exchange(link, b.out.first(t.size), b.in.first(t.size), 0));
}

// What tune() tries: windows from one that stays in the nearer caches to one beyond the second level. None so large
// that a slice goes round it only a few times: it would measure what happened to the lines before the slice.
std::vector<way> candidates(quantity what, std::size_t size, copy_routine copy) {
    std::vector<way> all;
    const auto add_blocks = [&](std::initializer_list<std::uint32_t> blocks,
                                std::initializer_list<std::uint32_t> windows) {
        for (const std::uint32_t block : blocks) {
            for (const std::uint32_t window : windows) {
                if (window >= 2 * block) all.push_back({mechanism::blocks, copy, block, window});
            }
        }
    };
    if (copy == copy_routine::streaming) {
        add_blocks({16384, 65536}, {131072, 524288});  // past the caches their size does not matter
        return all;
    }
    switch (what) {
        case quantity::rate:
            for (const std::uint32_t window : {65536u, 262144u, 1048576u}) {
                all.push_back({mechanism::in_line, copy, 0, window});
            }
            break;
        case quantity::latency:
            // Above, copying in before anybody copies out has lost long before.
            if (size <= 65536) all.push_back({mechanism::in_line, copy, 0, 0});
            if (size > line_payload) add_blocks({1024, 4096, 16384, 65536}, {262144, 1048576});
            break;
        case quantity::bandwidth: add_blocks({16384, 65536, 262144}, {131072, 524288, 1048576, 2097152}); break;
    }
    return all;
}

result<double> measure_checked(partner_link& link, const floor_buffers& buffers, const floor_task& task) {
    request r{.kind = kind_of(task.what), .how = task.how, .size = task.size};
    r.attach_address = reinterpret_cast<std::uint64_t>(buffers.out.data());
    switch (task.what) {
        case quantity::latency: return measure_latency(link, buffers, task, r);
        case quantity::rate: return measure_rate(link, buffers, task, r);
        case quantity::bandwidth: break;
    }
    return measure_bandwidth(link, buffers, task, r);
}

// A figure during which neither process was preempted, or after some attempts whatever came out.
result<double> measure_undisturbed(partner_link& link, const floor_buffers& buffers, const floor_task& task) {
    constexpr int attempts = 4;
    for (int attempt = 1;; ++attempt) {
        const std::uint64_t before = link.preemptions();
        auto figure = measure_checked(link, buffers, task);
        if (!figure || attempt == attempts || link.preemptions() == before) return figure;
    }
}

result<bool> attach_works(partner_link& link, const floor_buffers& b, int& error) {
    error = 0;
    request r{.kind = request_kind::try_attach};
    r.attach_address = reinterpret_cast<std::uint64_t>(b.out.data());
    if (!link.ask(r)) return link.why();
    const std::optional<int> answer = link.finish();
    if (!answer) return link.why();
    error = *answer;
    if (error == 0) {
        std::uint64_t word = 0;
        // Pairs with the release in serve().
        const std::uint64_t address = link.shared().answer_attach.load(std::memory_order_acquire);
        error = read_from_process(link.partner(), address, as_bytes_of(word));
    }
    return error == 0;
}

// The candidate that stayed least behind the others, as a median over rounds.
result<way> best_of(partner_link& link, const floor_buffers& buffers, quantity what, std::size_t size,
                    const std::vector<way>& all) {
    // Five rounds, so that the median survives two in which the host moved a processor.
    constexpr int rounds = 5;
    constexpr std::uint64_t duration_ns = 500'000;
    if (all.size() == 1) return all.front();

    // Per candidate and round, how far it stayed behind the round's best: comparable between placements.
    std::vector<std::vector<double>> behind(all.size());
    for (int round = 0; round < rounds; ++round) {
        std::vector<double> figures;
        for (const way& w : all) {
            auto figure = measure_undisturbed(link, buffers, {what, size, w, duration_ns});
            if (!figure) return figure.error();
            figures.push_back(*figure);
        }
        const auto better = [what](double a, double b) { return is_better(what, a, b); };
        const double best = *std::min_element(figures.begin(), figures.end(), better);
        for (std::size_t i = 0; i < all.size(); ++i) {
            behind[i].push_back(what == quantity::latency ? figures[i] / best : best / figures[i]);
        }
    }
    std::size_t chosen = 0;
    double least = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double middle = median(behind[i]);
        if (i == 0 || middle < least) {
            least = middle;
            chosen = i;
        }
    }
    return all[chosen];
}

}  // namespace

const char* name_of(mechanism m) noexcept {
    switch (m) {
        case mechanism::in_line: return "in line";
        case mechanism::blocks: return "pipelined copy";
        case mechanism::attach: return "cross-memory attach";
    }
    return "unknown";
}

const char* name_of(copy_routine c) noexcept {
    switch (c) {
        case copy_routine::library: return "memcpy";
        case copy_routine::string_move: return "rep movsb";
        case copy_routine::streaming: return "streaming stores";
    }
    return "unknown";
}

result<double> measure(partner_link& link, const floor_buffers& buffers, const floor_task& task) {
    if (auto ok = check(buffers, task); !ok) return ok.error();
    return measure_checked(link, buffers, task);
}

result<floor_plan> tune(partner_link& link, const floor_buffers& buffers, quantity what, std::size_t size) {
    floor_plan plan{.what = what, .size = size};
    const std::vector<way> cached = candidates(what, size, copy_routine::library);
    // All candidates of a size have the same needs; one that fails the check tells it before any time is spent.
    if (auto ok = check(buffers, {what, size, cached.front(), 0}); !ok) return ok.error();
    auto copy = best_of(link, buffers, what, size, cached);
    if (!copy) return copy.error();
    plan.copy = *copy;
    if (what == quantity::rate) return plan;
    if (size >= streaming_size_min) {
        auto streaming = best_of(link, buffers, what, size, candidates(what, size, copy_routine::streaming));
        if (!streaming) return streaming.error();
        plan.streaming = *streaming;
        plan.streaming_usable = true;
    }
    if (size >= attach_size_min) {
        auto works = attach_works(link, buffers, plan.attach_error);
        if (!works) return works.error();
        plan.attach_usable = *works;
    }
    return plan;
}

result<floor_sample> sample(partner_link& link, const floor_buffers& buffers, const floor_plan& plan,
                            std::uint64_t duration_ns) {
    std::vector<way> ways{plan.copy};
    if (plan.streaming_usable) ways.push_back(plan.streaming);
    if (plan.attach_usable) ways.push_back({.how = mechanism::attach});
    floor_sample s;
    for (const way& w : ways) {
        auto figure = measure(link, buffers, {plan.what, plan.size, w, duration_ns / ways.size()});
        if (!figure) return figure.error();
        double& kind = w.how == mechanism::attach ? s.attached : s.copied;
        if (kind == 0 || is_better(plan.what, *figure, kind)) kind = *figure;
        if (s.best == 0 || is_better(plan.what, *figure, s.best)) {
            s.best = *figure;
            s.how = w;
        }
    }
    return s;
}

bool answer_floor(partner_link& link, const floor_buffers& b, const request& asked, int& error) noexcept {
    error = 0;
    const std::size_t size = static_cast<std::size_t>(asked.size);
    if (asked.kind == request_kind::try_attach) {
        std::uint64_t word = 0;
        error = read_from_process(link.partner(), asked.attach_address, as_bytes_of(word));
        return true;
    }
    if (std::min(b.out.size(), b.in.size()) < std::max(size, buffer_size_min)) {
        link.abandon();  // the two processes were given buffers of different sizes
        return false;
    }
    if (asked.kind == request_kind::rate) {
        return with_slots<flow::stream>(link, b, size, asked.how.window, [](auto& x) { return answer_stream(x); });
    }
    const bool latency = asked.kind == request_kind::latency;
    if (latency && asked.how.how == mechanism::in_line) {
        return with_slots<flow::turns>(link, b, size, 0, [](auto& x) { return answer_ping_pong(x); });
    }
    if (asked.how.how == mechanism::blocks) {
        block_exchange x(link, b.out.first(size), b.in.first(size), asked.how);
        return latency ? answer_ping_pong(x) : answer_stream(x);
    }
    attach_exchange x(link, b.out.first(size), b.in.first(size), asked.attach_address);
    const bool fine = latency ? answer_ping_pong(x) : answer_stream(x);
    error = x.error();
    return fine;
}

}  // namespace weft::tool
