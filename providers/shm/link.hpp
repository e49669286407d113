// Contact state of a domain: its sockets to other domains, and one record per pair of endpoints.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include "os/descriptor.hpp"
#include "os/mapping.hpp"
#include "os/unix_socket.hpp"
#include "shm/copy_choice.hpp"
#include "shm/domain.hpp"
#include "wire/contact.hpp"

namespace weft::shm {

// Normally one per pair of processes; two when both sides connect in the same moment, which does no harm.
struct domain::link {
    std::uint64_t key = 0;  // in links_ and epoll
    os::connection socket;
    base::identity remote;  // of the other domain; nobody until it has introduced itself
    os::peer_credentials credentials;
    bool forbidden = false;  // of another user: its opens are refused, with the reason
    std::shared_ptr<copy_choice> choice;  // made when the peer has told where it keeps its probe value
    // Datagrams for which the socket had no room.
    std::deque<std::pair<wire::contact, os::descriptor>> outbox;
};

struct domain::record {
    enum state_type { connecting, opened, failed };
    state_type state = connecting;
    std::uint64_t peer = 0;
    link* via = nullptr;                    // null: an endpoint of this domain
    std::shared_ptr<os::mapping> memory;    // ours, while connecting
    errc why = errc::ok;                    // failed
    bool told = false;                      // failed, and the sender has been told
    std::string text;
};

}  // namespace weft::shm
