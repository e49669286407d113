// One operation, many times: what scripts/check-instructions counts under callgrind.
//
// One process, two endpoints of one domain on one queue, one thread, the public API only. The difference of two run
// lengths is the cost of one operation, caller and progress included. Contact sockets are looked at once a second, so
// that counts do not depend on how slowly the program runs under the tool.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

namespace {

constexpr capset abilities = caps::msg | caps::tagged;

struct bench {
    explicit bench(const needs& n) : want(n) {}
    needs want;
    fabric fab =
        fabric::open({.settings = {{"shm_contact_period", "1000000"}}, .sink = {}, .load_plugins = false}).value();
    domain dom = fab.best(abilities, want).value();
    completion_queue<entry::tagged> queue = dom.open_queue<entry::tagged>().value();
    endpoint<abilities> sender = dom.open<abilities>(want, queue).value();
    endpoint<abilities> receiver = dom.open<abilities>(want, queue).value();
    completion_queue<entry::tagged> lonely = dom.open_queue<entry::tagged>().value();
    endpoint<abilities> alone = dom.open<abilities>(want, lonely).value();
    peer to = dom.resolve(receiver.address_text()).value();
    std::array<entry::tagged, 16> room{};
    std::vector<std::byte> out, in;

    void reap(std::size_t wanted) {
        for (std::size_t got = 0; got < wanted;) got += queue.poll(room).size();
    }
    void retry() { queue.poll({}); }

    void tagged() {
        (void)receiver.recv(std::span(in), tag{7}, token{std::uintptr_t{2}});
        while (sender.send(std::span(std::as_const(out)), to, tag{7}, token{std::uintptr_t{1}}).again()) retry();
        reap(2);
    }
    void untagged() {
        (void)receiver.recv(std::span(in), token{std::uintptr_t{2}});
        while (sender.send(std::span(std::as_const(out)), to, token{std::uintptr_t{1}}).again()) retry();
        reap(2);
    }
    void inject() {
        (void)receiver.recv(std::span(in), token{std::uintptr_t{2}});
        while (sender.inject(std::span(std::as_const(out)), to).again()) retry();
        reap(1);
    }
    // One endpoint on a queue of its own, connected to itself.
    void meet_itself() {
        const peer self = dom.resolve(alone.address_text()).value();
        while (alone.inject(std::span(std::as_const(out)), self).again()) lonely.poll({});
        (void)alone.recv(std::span(in), token{});
        while (lonely.poll(room).empty()) {
        }
    }
    void empty_poll() { (void)lonely.poll(room); }
};

int usage() {
    std::fputs("usage: micro_gate tagged|untagged|inject|eager_256|any_thread|empty_poll COUNT\n", stderr);
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return usage();
    const std::string_view what = argv[1];
    const long count = std::atol(argv[2]);
    needs want;
    if (what == "any_thread") want.threads = threading::any_thread;
    bench b(want);
    const std::size_t size = what == "eager_256" ? 256 : 8;
    b.out.resize(size);
    b.in.resize(size);
    if (what != "empty_poll")
        for (int i = 0; i < 100; ++i) b.tagged();
    else
        b.meet_itself();
    const auto repeat = [&](void (bench::*operation)()) {
        for (long i = 0; i < count; ++i) (b.*operation)();
        return 0;
    };
    if (what == "tagged" || what == "eager_256" || what == "any_thread") return repeat(&bench::tagged);
    if (what == "untagged") return repeat(&bench::untagged);
    if (what == "inject") return repeat(&bench::inject);
    if (what == "empty_poll") return repeat(&bench::empty_poll);
    return usage();
}
