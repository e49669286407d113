// Ways of getting from a call to the code that does it, with the same work behind each: an 8-byte tagged message into a
// ring of cache lines and a completion entry. The evidence for docs/decisions/0002-binding.md.
//
// usage: dispatch_dispatch            nanoseconds per call, median of interleaved slices
//        dispatch_dispatch WAY COUNT  runs one way, for counting instructions
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

#include <weft/plugin.h>

#include "base/clock.hpp"
#include "base/copy_small.hpp"

namespace {

struct alignas(64) line {
    std::uint64_t word, tag;
    std::byte payload[48];
};
struct entry {
    void* context;
    std::uint64_t what, size, peer, data, tag;
};

// What every way has to reach.
struct state {
    std::array<line, 512> ring;
    std::array<entry, 64> entries;
    std::uint64_t produced = 0, limit = ~std::uint64_t{0}, completed = 0, peers = 4, counted = 0;
    std::mutex* lock = nullptr;
    bool counts = false, locks = false, reports = true;
    std::uint64_t eager_max = 48;

    [[gnu::always_inline]] int put(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag,
                                   void* c) noexcept {
        if (to >= peers || n > 48 || produced == limit) return 1;
        line& l = ring[produced & 511];
        weft::base::copy_small(l.payload, p, n);
        l.tag = tag;
        ++produced;
        __atomic_store_n(&l.word, produced | n << 32, __ATOMIC_RELEASE);
        entries[completed++ & 63] = {c, 0, n, to, 0, tag};
        return 0;
    }
};

// (a) One entry point with a work request: queue-pair type, opcode and flags are sorted out per call.
struct piece {
    std::uint64_t address;
    std::uint32_t length, key;
};
struct work_request {
    std::uint64_t id;
    work_request* next;
    const piece* pieces;
    int count;
    int opcode;
    unsigned flags;
    std::uint64_t peer, tag, data;
    int type;
};
[[gnu::noinline]] int post_send(state& s, const work_request* w) noexcept {
    for (; w != nullptr; w = w->next) {
        if (s.locks) s.lock->lock();
        std::byte buffer[48];
        std::size_t n = 0;
        switch (w->type) {
            case 2:
            case 3:
            case 4: break;
            default: return 22;
        }
        switch (w->opcode) {
            case 0:
            case 1:
            case 2:
            case 3:
            case 4:
                for (int i = 0; i < w->count; ++i) {
                    if (n + w->pieces[i].length > sizeof buffer) return 12;
                    std::memcpy(buffer + n, reinterpret_cast<const void*>(w->pieces[i].address), w->pieces[i].length);
                    n += w->pieces[i].length;
                }
                break;
            default: return 22;
        }
        const bool reports = (w->flags & 2) != 0;
        const std::uint64_t before = s.completed;
        if (const int e = s.put(buffer, n, w->peer, w->tag, reinterpret_cast<void*>(w->id)); e != 0) return e;
        if (!reports) s.completed = before;
        if (s.counts) ++s.counted;
        if (s.locks) s.lock->unlock();
    }
    return 0;
}

// (b) A table of functions, then a generic body: operation, lock, protocol and counter by run-time values.
struct generic_ops {
    void (*lock)(state&) noexcept;
    void (*unlock)(state&) noexcept;
    int (*protocol[3])(state&, const std::byte*, std::size_t, std::uint64_t, std::uint64_t, void*) noexcept;
    void (*count)(state&) noexcept;
};
int generic_put(state& s, const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag, void* c) noexcept {
    return s.put(p, n, to, tag, c);
}
void nothing(state&) noexcept {}
const generic_ops generic_table = {nothing, nothing, {generic_put, generic_put, generic_put}, nothing};
struct generic_object {
    int (*send)(generic_object*, const void*, std::size_t, std::uint64_t, std::uint64_t, void*) noexcept;
    state* s;
    const generic_ops* ops;
};
[[gnu::noinline]] int generic_body(generic_object* o, const void* p, std::size_t n, std::uint64_t to, std::uint64_t tag,
                                   void* c, int operation, unsigned flags) noexcept {
    state& s = *o->s;
    o->ops->lock(s);
    const int way = n <= 48 ? 0 : n <= s.eager_max ? 1 : 2;
    const int e = operation == 1 ? o->ops->protocol[way](s, static_cast<const std::byte*>(p), n, to, tag, c) : 22;
    if ((flags & 1) != 0) o->ops->count(s);
    o->ops->unlock(s);
    return e;
}
int generic_send(generic_object* o, const void* p, std::size_t n, std::uint64_t to, std::uint64_t tag,
                 void* c) noexcept {
    return generic_body(o, p, n, to, tag, c, 1, 1);
}

// (c) A table straight to a specialised function. (h) is the same with libfabric's argument order.
struct table_object {
    const struct table* ops;
    state* s;
};
struct table {
    std::size_t size;
    int (*send)(table_object*, const void*, std::size_t, void*, std::uint64_t, std::uint64_t, void*) noexcept;
};
int table_send(table_object* o, const void* p, std::size_t n, void*, std::uint64_t to, std::uint64_t tag,
               void* c) noexcept {
    return o->s->put(static_cast<const std::byte*>(p), n, to, tag, c);
}
const table specialised = {sizeof(table), table_send};

// (d) A virtual function of a final class template; (e) the same tidy code with run-time tests; (f) bound statically.
struct base_class {
    virtual int send(const std::byte*, std::size_t, void*, std::uint64_t, std::uint64_t, void*) noexcept = 0;
    virtual ~base_class() = default;
};
template <bool Locked, bool Counted>
struct derived final : base_class {
    explicit derived(state& st) : s(&st) {}
    int send(const std::byte* p, std::size_t n, void*, std::uint64_t to, std::uint64_t tag, void* c) noexcept override {
        if constexpr (Locked) s->lock->lock();
        const int e = s->put(p, n, to, tag, c);
        if constexpr (Counted) ++s->counted;
        if constexpr (Locked) s->lock->unlock();
        return e;
    }
    state* s;
};
struct tested final : base_class {
    explicit tested(state& st) : s(&st) {}
    int send(const std::byte* p, std::size_t n, void*, std::uint64_t to, std::uint64_t tag, void* c) noexcept override {
        if (s->locks) s->lock->lock();
        const std::uint64_t before = s->completed;
        const int e = s->put(p, n, to, tag, c);
        if (!s->reports) s->completed = before;
        if (s->counts) ++s->counted;
        if (s->locks) s->lock->unlock();
        return e;
    }
    state* s;
};

// (g) A C function that forwards to the virtual one.
struct thunk_object {
    const struct thunk_table* ops;
    base_class* impl;
};
struct thunk_table {
    std::size_t size;
    long (*send)(thunk_object*, const void*, std::size_t, void*, std::uint64_t, std::uint64_t, void*) noexcept;
};
long thunk_send(thunk_object* o, const void* p, std::size_t n, void* d, std::uint64_t to, std::uint64_t tag,
                void* c) noexcept {
    const int e = o->impl->send(static_cast<const std::byte*>(p), n, d, to, tag, c);
    return e == 1 ? -11 : e;
}
const thunk_table thunks = {sizeof(thunk_table), thunk_send};

template <class T>
T* hidden(T* p) {  // the optimiser must not know what is behind it
    asm volatile("" : "+r"(p));
    return p;
}

struct rig {
    state s{};
    generic_object generic{generic_send, &s, &generic_table};
    table_object direct{&specialised, &s};
    derived<false, false> virtual_impl{s};
    tested tested_impl{s};
    thunk_object forwarding{&thunks, &virtual_impl};
    std::uint64_t out = 42;

    template <class Call>
    void repeat(long count, Call&& call) {
        for (long i = 0; i < count; ++i) {
            call(reinterpret_cast<const std::byte*>(&out));
            asm volatile("" ::: "memory");
        }
    }
    bool run(char way, long count) {
        switch (way) {
            case 'a': {
                state* const p = hidden(&s);
                repeat(count, [&](const std::byte* b) {
                    const piece one{reinterpret_cast<std::uint64_t>(b), 8, 0};
                    const work_request w{7, nullptr, &one, 1, 2, 2, 1, 9, 0, 2};
                    (void)post_send(*p, &w);
                });
                return true;
            }
            case 'b': {
                auto* const o = hidden(&generic);
                repeat(count, [&](const std::byte* b) { (void)o->send(o, b, 8, 1, 9, nullptr); });
                return true;
            }
            case 'c': {
                auto* const o = hidden(&direct);
                repeat(count, [&](const std::byte* b) { (void)o->ops->send(o, b, 8, nullptr, 1, 9, nullptr); });
                return true;
            }
            case 'd': {
                base_class* const o = hidden<base_class>(&virtual_impl);
                repeat(count, [&](const std::byte* b) { (void)o->send(b, 8, nullptr, 1, 9, nullptr); });
                return true;
            }
            case 'e': {
                base_class* const o = hidden<base_class>(&tested_impl);
                repeat(count, [&](const std::byte* b) { (void)o->send(b, 8, nullptr, 1, 9, nullptr); });
                return true;
            }
            case 'f': {
                state* const p = hidden(&s);
                repeat(count, [&](const std::byte* b) { (void)p->put(b, 8, 1, 9, nullptr); });
                return true;
            }
            case 'g': {
                auto* const o = hidden(&forwarding);
                repeat(count, [&](const std::byte* b) { (void)o->ops->send(o, b, 8, nullptr, 1, 9, nullptr); });
                return true;
            }
            default: return false;
        }
    }
};

struct way {
    char letter;
    const char* text;
};
constexpr way ways[] = {
    {'a', "one post_send with a work request, switches on type, opcode, flags"},
    {'b', "C table, then a generic body with lock, protocol and counter by pointer"},
    {'c', "C table straight to a specialised function (weft's boundary)"},
    {'d', "virtual function of a final class template"},
    {'e', "the same with run-time tests"},
    {'f', "bound statically, inlined"},
    {'g', "C function that forwards to the virtual one"},
};

}  // namespace

int main(int argc, char** argv) {
    static rig r;
    if (argc == 3) return r.run(argv[1][0], std::atol(argv[2])) ? 0 : 2;
    if (argc != 1) return 2;
    constexpr int slices = 31;
    constexpr long calls = 20'000;
    std::array<std::vector<double>, std::size(ways)> times;
    for (int slice = 0; slice < slices; ++slice)
        for (std::size_t i = 0; i < std::size(ways); ++i) {
            const std::uint64_t start = weft::base::now_ns();
            r.run(ways[i].letter, calls);
            times[i].push_back(static_cast<double>(weft::base::now_ns() - start) / calls);
        }
    for (std::size_t i = 0; i < std::size(ways); ++i) {
        std::nth_element(times[i].begin(), times[i].begin() + slices / 2, times[i].end());
        std::printf("%c %6.2f ns  %s\n", ways[i].letter, times[i][slices / 2], ways[i].text);
    }
    return 0;
}
