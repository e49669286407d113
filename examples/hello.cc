#include <cstdio>
#include <weft/weft.hpp>

int main() {
    using weft::caps::tagged;
    auto fabric = weft::fabric::open().value();
    auto domain = fabric.best(tagged).value();
    auto queue = domain.open_queue().value();
    auto alice = domain.open<tagged>({}, queue).value();
    auto bob = domain.open<tagged>({}, queue).value();
    const weft::peer to_bob = domain.resolve(bob.address_text()).value();

    char text[32] = {};
    bob.recv(std::span(text), weft::tag{7}, weft::token{1}).check();
    weft::entry::tagged ended[8];
    weft::status sent;  // try_again: nothing was started; poll, then repeat
    while ((sent = alice.send(std::span("hello, weft"), to_bob, weft::tag{7}, weft::quiet)).again()) queue.poll(ended);
    sent.check();
    while (queue.poll(ended).empty()) {
    }
    std::printf("%s: %zu bytes, \"%s\"\n", ended[0].outcome.text(), std::size_t{ended[0].size}, text);
}
