// Time per match with 10 and with 10,000 posted tagged receives whose messages arrive in reverse order.
//
// Two endpoints of one process: a message is sent and its completion polled, nothing else. The two depths take turns,
// so that both see the same state of the machine.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <weft/weft.hpp>

#include "base/clock.hpp"

using namespace weft;

namespace {

constexpr std::size_t deep = 10'000;
constexpr std::size_t shallow = 10;

struct bench {
    needs want{.posted_receives_min = deep};
    fabric fab = fabric::open().value();
    domain dom = fab.best(caps::tagged, want).value();
    completion_queue<entry::tagged> queue = dom.open_queue<entry::tagged>().value();
    endpoint<caps::tagged> sender = dom.open<caps::tagged>(want, queue).value();
    endpoint<caps::tagged> receiver = dom.open<caps::tagged>(want, queue).value();
    peer to = dom.resolve(receiver.address_text()).value();
    std::array<entry::tagged, 16> room{};
    std::vector<std::uint64_t> in = std::vector<std::uint64_t>(deep);

    // Nanoseconds per message, posting not included.
    double run(std::size_t posted) {
        for (std::size_t i = 0; i < posted; ++i) receiver.recv(bytes_of(in[i]), tag{i}, token{&in[i]}).check();
        const std::uint64_t start = base::now_ns();
        for (std::uint64_t i = posted; i-- > 0;) {
            while (sender.inject(bytes_of(std::as_const(i)), to, tag{i}).again()) queue.poll({});
            while (queue.poll(room).empty()) {
            }
        }
        return static_cast<double>(base::now_ns() - start) / static_cast<double>(posted);
    }
};

double median(std::vector<double>& v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
}

}  // namespace

int main() {
    bench b;
    std::vector<double> few, many;
    (void)b.run(deep);  // grows the tables
    for (int turn = 0; turn < 51; ++turn) {
        many.push_back(b.run(deep));
        for (int i = 0; i < 200; ++i) few.push_back(b.run(shallow));
    }
    const double ten = median(few), all = median(many);
    std::printf("per match: %zu posted %.1f ns, %zu posted, in reverse %.1f ns, ratio %.2f\n", shallow, ten, deep, all,
                all / ten);
    return 0;
}
