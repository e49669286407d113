// Makes the C tables of <weft/plugin.h> from a provider's classes.
//
// Each entry is a function without captures that names the concrete class, so the compiler inlines the class's
// code into it: the table's function *is* the specialised send, one indirect call away from the caller.
#pragma once
#include <cstddef>
#include <cstdint>
#include "../plugin.h"
#include "../status.hpp"

namespace weft::spi {

constexpr weft_status to_c(status s) noexcept { return static_cast<weft_status>(s.code()); }

// `Impl` derives from weft_endpoint and has the member functions named here, all noexcept.
template <class Impl>
struct endpoint_table {
    using self = weft_endpoint*;
    static Impl& of(self e) noexcept { return *static_cast<Impl*>(e); }
    static const std::byte* in(const void* p) noexcept { return static_cast<const std::byte*>(p); }
    static std::byte* out(void* p) noexcept { return static_cast<std::byte*>(p); }

    static weft_status send(self e, const void* p, std::size_t n, void*, std::uint64_t to, void* c) noexcept {
        return to_c(of(e).send(in(p), n, to, c));
    }
    static weft_status send_quiet(self e, const void* p, std::size_t n, void*, std::uint64_t to) noexcept {
        return to_c(of(e).send_quiet(in(p), n, to));
    }
    static weft_status inject(self e, const void* p, std::size_t n, std::uint64_t to) noexcept {
        return to_c(of(e).inject(in(p), n, to));
    }
    static weft_status sendv(self e, const weft_piece* v, std::size_t n, std::uint64_t to, void* c) noexcept {
        return to_c(of(e).sendv(v, n, to, c));
    }
    static weft_status sendmsg(self e, const weft_message* m, std::uint32_t f) noexcept {
        return to_c(of(e).sendmsg(*m, f));
    }
    static weft_status recv(self e, void* p, std::size_t n, void*, std::uint64_t from, void* c) noexcept {
        return to_c(of(e).recv(out(p), n, from, c));
    }
    static weft_status recvv(self e, const weft_piece* v, std::size_t n, std::uint64_t from, void* c) noexcept {
        return to_c(of(e).recvv(v, n, from, c));
    }
    static weft_status recvmsg(self e, const weft_message* m, std::uint32_t f) noexcept {
        return to_c(of(e).recvmsg(*m, f));
    }
    static weft_status tsend(self e, const void* p, std::size_t n, void*, std::uint64_t to, std::uint64_t tag,
                             void* c) noexcept {
        return to_c(of(e).tsend(in(p), n, to, tag, c));
    }
    static weft_status tsend_quiet(self e, const void* p, std::size_t n, void*, std::uint64_t to,
                                   std::uint64_t tag) noexcept {
        return to_c(of(e).tsend_quiet(in(p), n, to, tag));
    }
    static weft_status tinject(self e, const void* p, std::size_t n, std::uint64_t to, std::uint64_t tag) noexcept {
        return to_c(of(e).tinject(in(p), n, to, tag));
    }
    static weft_status tsendv(self e, const weft_piece* v, std::size_t n, std::uint64_t to, std::uint64_t tag,
                              void* c) noexcept {
        return to_c(of(e).tsendv(v, n, to, tag, c));
    }
    static weft_status tsendmsg(self e, const weft_message* m, std::uint32_t f) noexcept {
        return to_c(of(e).tsendmsg(*m, f));
    }
    static weft_status trecv(self e, void* p, std::size_t n, void*, std::uint64_t from, std::uint64_t tag,
                             std::uint64_t ignore, void* c) noexcept {
        return to_c(of(e).trecv(out(p), n, from, tag, ignore, c));
    }
    static weft_status trecvv(self e, const weft_piece* v, std::size_t n, std::uint64_t from, std::uint64_t tag,
                              std::uint64_t ignore, void* c) noexcept {
        return to_c(of(e).trecvv(v, n, from, tag, ignore, c));
    }
    static weft_status trecvmsg(self e, const weft_message* m, std::uint32_t f) noexcept {
        return to_c(of(e).trecvmsg(*m, f));
    }
    static weft_status cancel(self e, void* c) noexcept { return to_c(of(e).cancel(c)); }
    static weft_status address(self e, void* bytes, std::size_t* size) noexcept {
        return to_c(of(e).address(bytes, size));
    }
    static weft_status path(self e, std::uint64_t to, weft_path* p, weft_failure* f) noexcept {
        return to_c(of(e).path(to, p, f));
    }
    static weft_status close(self e) noexcept { return to_c(of(e).close()); }
    static void release(self e) noexcept { of(e).release(); }

    static constexpr weft_endpoint_ops value = {
        sizeof(weft_endpoint_ops),
        send,
        send_quiet,
        inject,
        sendv,
        sendmsg,
        recv,
        recvv,
        recvmsg,
        tsend,
        tsend_quiet,
        tinject,
        tsendv,
        tsendmsg,
        trecv,
        trecvv,
        trecvmsg,
        cancel,
        address,
        path,
        close,
        release,
    };
};

}  // namespace weft::spi
