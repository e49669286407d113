#include "os/error.hpp"

#include <cerrno>
#include <system_error>

#include "os/limits.hpp"

namespace weft::os {
namespace {

struct code_row {
    int error;
    errc code;
};

// clang-format off: one row per line
constexpr code_row codes[] = {
    {EAGAIN, errc::try_again},
    {ECONNREFUSED, errc::peer_unreachable},
    {ENOENT, errc::peer_unreachable},  // of a socket's path; other callers give their own code
    {EPIPE, errc::peer_gone},
    {ECONNRESET, errc::peer_gone},
    {ENOTCONN, errc::peer_gone},
    {ESRCH, errc::peer_gone},
    {EMSGSIZE, errc::message_too_long},
    {ENOMEM, errc::no_memory},
    {ENOSPC, errc::no_memory},  // everything we create lives in memory
    {ENOBUFS, errc::no_memory},
    {EMFILE, errc::no_descriptors},
    {ENFILE, errc::no_descriptors},
    {ETOOMANYREFS, errc::no_descriptors},
    {ETIMEDOUT, errc::timed_out},
    {EPERM, errc::permission_denied},
    {EACCES, errc::permission_denied},
    {EINVAL, errc::invalid_argument},
    {ENOSYS, errc::not_supported},
    {EOPNOTSUPP, errc::not_supported},
    {ENOPROTOOPT, errc::not_supported},
};
// clang-format on

std::string descriptor_advice() {
    const int open = open_descriptors();
    std::string text = " (" + describe(limit::descriptors);
    if (open >= 0) text += ", " + std::to_string(open) + " are open";
    return text + "); raise it with 'ulimit -n' or LimitNOFILE, or open fewer";
}

std::string memory_advice() {
    std::string limits;
    for (const limit which : {limit::address_space, limit::data}) {
        if (read_limit(which).soft == unlimited) continue;
        limits += limits.empty() ? "" : ", ";
        limits += describe(which);
    }
    if (limits.empty()) return "; ask for less, or see vm.overcommit_memory, vm.max_map_count, memory.max";
    return " (" + limits + "); raise it or ask for less";
}

std::string advice(int error) {
    switch (error) {
        case EMFILE: return descriptor_advice();
        case ENFILE: return " (all processes together); raise fs.file-max";
        case ETOOMANYREFS:  // the limit counts those in flight, per user
            return " (more are under way to peers that have not received them than " + describe(limit::descriptors) +
                   " allows); let the peers receive, or raise it";
        case ENOMEM: return memory_advice();
        case ENOSYS: return " (this kernel lacks it, or a filter hides it)";
        default: return {};
    }
}

}  // namespace

errc code_of(int error) noexcept {
    for (const code_row& row : codes)
        if (row.error == error) return row.code;
    return errc::system_error;
}

failure system_failure(errc code, int error, std::string wanted) {
    return {code, error, "cannot " + std::move(wanted) + ": " + std::generic_category().message(error) + advice(error)};
}

failure system_failure(int error, std::string wanted) {
    return system_failure(code_of(error), error, std::move(wanted));
}

failure plain_failure(errc code, std::string text) { return {code, 0, std::move(text)}; }

}  // namespace weft::os
