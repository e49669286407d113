#include <weft/endpoint.hpp>

#include "core/convert.hpp"

namespace weft::detail {
namespace {

template <std::size_t N>
std::string text_in(char (&field)[N]) {
    field[N - 1] = '\0';  // whatever the provider wrote ends here
    return field;
}

result<weft_path> path_in_c(weft_endpoint* e, std::uint64_t to) {
    if (e == nullptr) return failure{errc::closed, 0, "an empty endpoint handle has no path"};
    weft_path path{};
    path.size = sizeof path;
    weft_failure why = core::empty_failure();
    const weft_status s = e->ops->path(e, to, &path, &why);
    if (s != 0) return core::from_c(why, s, "", "tell the path to peer " + std::to_string(to));
    return path;
}

}  // namespace

result<path_info> path_of(weft_endpoint* e, std::uint64_t to) {
    auto path = path_in_c(e, to);
    if (!path) return std::move(path).error();
    return path_info{text_in(path->local),     text_in(path->remote), text_in(path->state),
                     text_in(path->mechanism), path->inline_max,      path->eager_max};
}

std::string text_of_address(weft_endpoint* e) {
    auto path = path_in_c(e, WEFT_ANY_PEER);
    return path ? text_in(path->local) : std::string{};
}

address address_of(weft_endpoint* e) noexcept {
    address a;
    std::size_t size = address::capacity;
    if (e != nullptr && e->ops->address(e, a.bytes.data(), &size) == 0 && size <= address::capacity) a.size = size;
    return a;
}

}  // namespace weft::detail
