// Tables in the layout of libfabric's C ABI, compiled for a provider's concrete endpoint class.
//
// A C caller's `ep->tagged->send(ep, ...)` lands in a function instantiated with the provider's class: one
// indirect call, no second one through weft's own table. The C face puts its `fid_ep` in front of the endpoint
// object in one allocation, `face_offset` bytes apart, and points the fid at these tables.
//
// Layouts: libfabric 1.x/2.x public headers, struct fid_ep, fi_ops_msg, fi_ops_tagged (x86-64). Only layouts are
// mirrored here; the exported symbols belong to the face's own library.
#pragma once
#include <sys/uio.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include "../plugin.h"
#include "../status.hpp"

namespace weft::spi {

inline constexpr std::size_t face_offset = 128;  // fid_ep takes 80 to 88 bytes in the releases known; two lines

// struct fi_ops_msg
struct face_ops_msg {
    std::size_t size;
    ssize_t (*recv)(void*, void*, std::size_t, void*, std::uint64_t, void*);
    ssize_t (*recvv)(void*, const iovec*, void**, std::size_t, std::uint64_t, void*);
    ssize_t (*recvmsg)(void*, const void*, std::uint64_t);
    ssize_t (*send)(void*, const void*, std::size_t, void*, std::uint64_t, void*);
    ssize_t (*sendv)(void*, const iovec*, void**, std::size_t, std::uint64_t, void*);
    ssize_t (*sendmsg)(void*, const void*, std::uint64_t);
    ssize_t (*inject)(void*, const void*, std::size_t, std::uint64_t);
    ssize_t (*senddata)(void*, const void*, std::size_t, void*, std::uint64_t, std::uint64_t, void*);
    ssize_t (*injectdata)(void*, const void*, std::size_t, std::uint64_t, std::uint64_t);
};
// struct fi_ops_tagged
struct face_ops_tagged {
    std::size_t size;
    ssize_t (*recv)(void*, void*, std::size_t, void*, std::uint64_t, std::uint64_t, std::uint64_t, void*);
    ssize_t (*recvv)(void*, const iovec*, void**, std::size_t, std::uint64_t, std::uint64_t, std::uint64_t, void*);
    ssize_t (*recvmsg)(void*, const void*, std::uint64_t);
    ssize_t (*send)(void*, const void*, std::size_t, void*, std::uint64_t, std::uint64_t, void*);
    ssize_t (*sendv)(void*, const iovec*, void**, std::size_t, std::uint64_t, std::uint64_t, void*);
    ssize_t (*sendmsg)(void*, const void*, std::uint64_t);
    ssize_t (*inject)(void*, const void*, std::size_t, std::uint64_t, std::uint64_t);
    ssize_t (*senddata)(void*, const void*, std::size_t, void*, std::uint64_t, std::uint64_t, std::uint64_t, void*);
    ssize_t (*injectdata)(void*, const void*, std::size_t, std::uint64_t, std::uint64_t, std::uint64_t);
};

// What open_endpoint hands out through `face`.
struct face_tables {
    std::size_t size;
    const face_ops_msg* msg;
    const face_ops_tagged* tagged;
};

// Negative errno as libfabric numbers them. One place maps the library's codes to C's.
constexpr ssize_t to_errno(status s) noexcept {
    switch (s.code()) {
        case errc::ok: return 0;
        case errc::try_again: return -EAGAIN;
        case errc::peer_unreachable: return -EHOSTUNREACH;
        case errc::peer_gone: return -ENOTCONN;
        case errc::truncated: return -265;  // FI_ETRUNC
        case errc::canceled: return -ECANCELED;
        case errc::not_supported: return -EOPNOTSUPP;
        case errc::invalid_argument: return -EINVAL;
        case errc::message_too_long: return -EMSGSIZE;
        case errc::no_memory: return -ENOMEM;
        case errc::no_descriptors: return -EMFILE;
        case errc::timed_out: return -ETIMEDOUT;
        case errc::closed: return -ESHUTDOWN;
        case errc::stale_after_fork: return -EOWNERDEAD;
        case errc::no_message: return -ENOMSG;
        case errc::permission_denied: return -EACCES;
        case errc::version_mismatch: return -EPROTONOSUPPORT;
        case errc::protocol_error: return -EPROTO;
        case errc::bad_address: return -EADDRNOTAVAIL;
        case errc::no_offer: return -ENODATA;
        case errc::unknown_name: return -ENOENT;
        case errc::system_error: return -EIO;
    }
    return -EIO;
}

// The plain calls. Those that take libfabric's own message structures (recvmsg, sendmsg) and vectors need its
// flags and belong to the face's library, which fills them in over a copy of these tables; until then they answer
// -ENOSYS, as libfabric asks of slots without a function.
template <class Impl>
struct face {
    static Impl& of(void* fid) noexcept { return *reinterpret_cast<Impl*>(static_cast<std::byte*>(fid) + face_offset); }
    static const std::byte* in(const void* p) noexcept { return static_cast<const std::byte*>(p); }
    static std::byte* out(void* p) noexcept { return static_cast<std::byte*>(p); }

    static ssize_t recv(void* f, void* p, std::size_t n, void*, std::uint64_t from, void* c) noexcept {
        return to_errno(of(f).recv(out(p), n, from, c));
    }
    static ssize_t send(void* f, const void* p, std::size_t n, void*, std::uint64_t to, void* c) noexcept {
        return to_errno(of(f).send(in(p), n, to, c));
    }
    static ssize_t inject(void* f, const void* p, std::size_t n, std::uint64_t to) noexcept {
        return to_errno(of(f).inject(in(p), n, to));
    }
    static ssize_t senddata(void* f, const void* p, std::size_t n, void* d, std::uint64_t data, std::uint64_t to,
                            void* c) noexcept {
        const weft_piece piece{const_cast<void*>(p), n, d};
        return to_errno(of(f).sendmsg({&piece, 1, to, 0, 0, data, c}, WEFT_REMOTE_DATA));
    }
    static ssize_t injectdata(void* f, const void* p, std::size_t n, std::uint64_t data, std::uint64_t to) noexcept {
        const weft_piece piece{const_cast<void*>(p), n, nullptr};
        return to_errno(
            of(f).sendmsg({&piece, 1, to, 0, 0, data, nullptr}, WEFT_REMOTE_DATA | WEFT_INJECT | WEFT_QUIET));
    }
    static ssize_t trecv(void* f, void* p, std::size_t n, void*, std::uint64_t from, std::uint64_t tag,
                         std::uint64_t ignore, void* c) noexcept {
        return to_errno(of(f).trecv(out(p), n, from, tag, ignore, c));
    }
    static ssize_t tsend(void* f, const void* p, std::size_t n, void*, std::uint64_t to, std::uint64_t tag,
                         void* c) noexcept {
        return to_errno(of(f).tsend(in(p), n, to, tag, c));
    }
    static ssize_t tinject(void* f, const void* p, std::size_t n, std::uint64_t to, std::uint64_t tag) noexcept {
        return to_errno(of(f).tinject(in(p), n, to, tag));
    }
    static ssize_t tsenddata(void* f, const void* p, std::size_t n, void* d, std::uint64_t data, std::uint64_t to,
                             std::uint64_t tag, void* c) noexcept {
        const weft_piece piece{const_cast<void*>(p), n, d};
        return to_errno(of(f).tsendmsg({&piece, 1, to, tag, 0, data, c}, WEFT_REMOTE_DATA));
    }
    static ssize_t tinjectdata(void* f, const void* p, std::size_t n, std::uint64_t data, std::uint64_t to,
                               std::uint64_t tag) noexcept {
        const weft_piece piece{const_cast<void*>(p), n, nullptr};
        return to_errno(
            of(f).tsendmsg({&piece, 1, to, tag, 0, data, nullptr}, WEFT_REMOTE_DATA | WEFT_INJECT | WEFT_QUIET));
    }
    static ssize_t no_vector(void*, const iovec*, void**, std::size_t, std::uint64_t, void*) noexcept {
        return -ENOSYS;
    }
    static ssize_t no_tagged_recvv(void*, const iovec*, void**, std::size_t, std::uint64_t, std::uint64_t,
                                   std::uint64_t, void*) noexcept {
        return -ENOSYS;
    }
    static ssize_t no_tagged_sendv(void*, const iovec*, void**, std::size_t, std::uint64_t, std::uint64_t,
                                   void*) noexcept {
        return -ENOSYS;
    }
    static ssize_t no_message(void*, const void*, std::uint64_t) noexcept { return -ENOSYS; }

    static constexpr face_ops_msg msg = {sizeof(face_ops_msg), recv,   no_vector, no_message, send, no_vector,
                                         no_message,           inject, senddata,  injectdata};
    static constexpr face_ops_tagged tagged = {
        sizeof(face_ops_tagged), trecv,      no_tagged_recvv, no_message, tsend,
        no_tagged_sendv,         no_message, tinject,         tsenddata,  tinjectdata};
    static constexpr face_tables tables = {sizeof(face_tables), &msg, &tagged};
};

}  // namespace weft::spi
