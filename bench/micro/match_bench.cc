// Time of posting and of matching, by number of receives posted and order of arrival.
//
// What to look at: items per second of take/10000/reverse against take/10. A match sits in a message path of some
// 40 ns; the difference between the two is what 10,000 posted receives add to it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <numeric>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "match/posted_list.hpp"
#include "match/unexpected_list.hpp"

namespace {

using weft::match::any_source;
using weft::match::posted_list;
using weft::match::posted_receive;
using weft::match::unexpected_link;
using weft::match::unexpected_list;

enum order { forward, reverse, random_order };
constexpr const char* order_names[] = {"forward", "reverse", "random"};

std::vector<std::uint64_t> tags_in(order how, std::size_t count) {
    std::vector<std::uint64_t> tags(count);
    std::iota(tags.begin(), tags.end(), std::uint64_t{1000});
    if (how == reverse) std::reverse(tags.begin(), tags.end());
    if (how == random_order) std::shuffle(tags.begin(), tags.end(), std::mt19937_64{1});
    return tags;
}

void post(posted_list& list, std::uint64_t tag, std::uint64_t ignore, std::uint64_t source) {
    posted_receive* r = list.add(tag, ignore, source);
    r->buffer = nullptr;
    r->size = tag;
    r->token = &list;
}

std::uint64_t match(posted_list& list, std::uint64_t source, std::uint64_t tag) {
    posted_receive* r = list.take(source, tag);
    const std::uint64_t size = r->size;
    list.release(r);
    return size;
}

// Posts `count` in order, lets them arrive in the order given; times the half that `timed_take` names, many rounds of
// a small count at a time so that the clock's own cost vanishes.
template <bool TimedTake>
void posted(benchmark::State& state) {
    using clock = std::chrono::steady_clock;
    const auto count = static_cast<std::size_t>(state.range(0));
    const std::size_t lists = std::max<std::size_t>(1, 1000 / count);
    const auto arrivals = tags_in(static_cast<order>(state.range(1)), count);
    std::deque<posted_list> all;
    for (std::size_t i = 0; i < lists; ++i) (void)all.emplace_back(count).reserve(count);
    std::uint64_t sum = 0;
    for (auto _ : state) {
        const auto start = clock::now();
        for (posted_list& list : all)
            for (std::size_t i = 0; i < count; ++i) post(list, 1000 + i, 0, any_source);
        const auto middle = clock::now();
        for (posted_list& list : all)
            for (const std::uint64_t tag : arrivals) sum += match(list, 1, tag);
        const auto end = clock::now();
        state.SetIterationTime(std::chrono::duration<double>(TimedTake ? end - middle : middle - start).count());
    }
    benchmark::DoNotOptimize(sum);
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(lists * count));
    state.SetLabel(order_names[state.range(1)]);
}
BENCHMARK_TEMPLATE(posted, true)->Name("take")->ArgsProduct({{10, 1000, 10000}, {0, 1, 2}})->UseManualTime();
BENCHMARK_TEMPLATE(posted, false)->Name("post")->ArgsProduct({{10, 1000, 10000}, {0}})->UseManualTime();

// One receive posted and matched at a time, as in a ping-pong: plain, untagged with others waiting, directed, masked.
void ping(benchmark::State& state, std::uint64_t ignore, std::uint64_t source, int others) {
    posted_list list(100);
    for (int i = 0; i < others; ++i) post(list, 7, ignore, source);
    for (auto _ : state) {
        post(list, 7, ignore, source);
        benchmark::DoNotOptimize(match(list, 3, 7));
    }
}
BENCHMARK_CAPTURE(ping, plain, 0, any_source, 0);
BENCHMARK_CAPTURE(ping, plain_same_key_waiting, 0, any_source, 16);
BENCHMARK_CAPTURE(ping, directed, 0, 3, 0);
BENCHMARK_CAPTURE(ping, masked, 0xff, any_source, 0);

struct message : unexpected_link {};

// Arrives unexpected, is found by a receive; `range(0)` others wait.
void unexpected(benchmark::State& state, std::uint64_t ignore, std::uint64_t source) {
    const auto count = static_cast<std::size_t>(state.range(0));
    std::deque<message> messages(count + 1);
    unexpected_list<message> list;
    for (std::size_t i = 0; i < count; ++i) {
        messages[i].tag = 1000 + i;
        messages[i].source = i % 16;
        list.add(messages[i]);
    }
    message* m = &messages[count];
    std::uint64_t tag = 0;
    for (auto _ : state) {
        m->tag = tag++ % 256;
        m->source = 3;
        list.add(*m);
        m = list.take(m->tag, ignore, source);
        benchmark::DoNotOptimize(m);
    }
}
BENCHMARK_CAPTURE(unexpected, any_source, 0, any_source)->Arg(0)->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(unexpected, directed, 0, 3)->Arg(0)->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(unexpected, anything, ~std::uint64_t{0}, any_source)->Arg(0)->Arg(1000)->Arg(10000);

}  // namespace

BENCHMARK_MAIN();
