#include "os/unix_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include "os/eventfd.hpp"
#include "os/memfd.hpp"
#include "support.hpp"

namespace weft::os {
namespace {

using test::bytes;

class unix_socket_test : public test::no_leaks {};

// Both ways to name a listener.
class unix_listener_test : public test::no_leaks, public ::testing::WithParamInterface<socket_name::space> {
  protected:
    socket_name name() const {
        if (GetParam() == socket_name::space::abstract) return socket_name::abstract(unique_);
        return socket_name::path(directory_ / "socket");
    }

  private:
    test::temporary_directory directory_;
    std::string unique_ = test::fresh_name();
};
INSTANTIATE_TEST_SUITE_P(names, unix_listener_test,
                         ::testing::Values(socket_name::space::abstract, socket_name::space::path),
                         [](const auto& p) { return p.param == socket_name::space::path ? "path" : "abstract"; });

void wait_for(const descriptor& file, short events) {
    pollfd waiting{file.get(), events, 0};
    while (::poll(&waiting, 1, -1) < 0) {
    }
}

struct two {
    connection a, b;
};
two make_pair() {
    auto ends = connection::pair().value();
    return {std::move(ends[0]), std::move(ends[1])};
}

TEST_P(unix_listener_test, connects_and_exchanges_datagrams) {
    auto l = listener::open(name(), 8);
    ASSERT_TRUE(l) << l.error().text;
    EXPECT_EQ(l->accept().error().code, errc::try_again);
    auto client = connect_to(name());
    ASSERT_TRUE(client) << client.error().text;
    auto server = l->accept();
    ASSERT_TRUE(server);
    EXPECT_EQ(::fcntl(server->file().get(), F_GETFD), FD_CLOEXEC);
    EXPECT_TRUE((::fcntl(server->file().get(), F_GETFL) & O_NONBLOCK) != 0);
    ASSERT_TRUE(client->send(bytes("one")));
    ASSERT_TRUE(client->send(bytes("three")));
    std::array<std::byte, 16> room;
    auto got = server->receive(room);
    ASSERT_TRUE(got);
    EXPECT_EQ(test::text(std::span(room).first(got->size)), "one") << "datagrams keep their bounds";
    got = server->receive(room);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->size, 5u);
    EXPECT_EQ(server->receive(room).error().code, errc::try_again);
}

TEST_P(unix_listener_test, nobody_there) {
    const auto none = connect_to(name());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, errc::peer_unreachable);
    EXPECT_TRUE(test::contains(none.error().text, to_text(name()))) << none.error().text;
    {
        auto l = listener::open(name(), 8);
        ASSERT_TRUE(l);
    }
    EXPECT_EQ(connect_to(name()).error().code, errc::peer_unreachable) << "closed again";
    EXPECT_TRUE(listener::open(name(), 8)) << "the name is free again";
}

TEST_P(unix_listener_test, a_living_owner_keeps_its_name) {
    auto first = listener::open(name(), 8);
    ASSERT_TRUE(first);
    const auto second = listener::open(name(), 8);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().native, EADDRINUSE);
    EXPECT_TRUE(connect_to(name())) << "the first one still answers";
}

TEST_P(unix_listener_test, a_full_queue_is_not_a_refusal) {
    auto l = listener::open(name(), 1);
    ASSERT_TRUE(l);
    std::vector<connection> waiting;
    for (int i = 0; i < 10; ++i) {
        auto c = connect_to(name());
        if (!c) {
            EXPECT_EQ(c.error().code, errc::try_again) << c.error().text;
            EXPECT_EQ(c.error().native, EAGAIN);
            break;
        }
        waiting.push_back(*std::move(c));
    }
    EXPECT_LT(waiting.size(), 10u);
    EXPECT_EQ(listener::open(name(), 1).error().native, EADDRINUSE) << "full is not stale";
    ASSERT_TRUE(l->accept());
    EXPECT_TRUE(connect_to(name()));
}

TEST_P(unix_listener_test, a_name_left_by_a_killed_process_is_taken_over) {
    const int status = test::in_child([&] {
        auto l = listener::open(name(), 8);
        if (l) ::raise(SIGKILL);
        return 1;
    });
    ASSERT_EQ(status, 128 + SIGKILL);
    EXPECT_EQ(connect_to(name()).error().code, errc::peer_unreachable);
    auto l = listener::open(name(), 8);
    ASSERT_TRUE(l) << l.error().text;
    EXPECT_TRUE(connect_to(name()));
}

TEST_P(unix_listener_test, a_forked_child_does_not_remove_the_name) {
    auto l = listener::open(name(), 8);
    ASSERT_TRUE(l);
    EXPECT_EQ(test::in_child([&] {
                  l->close();
                  return 0;
              }),
              0);
    EXPECT_TRUE(connect_to(name()));
}

TEST_P(unix_listener_test, moves) {
    auto opened = listener::open(name(), 8);
    ASSERT_TRUE(opened);
    listener a = *std::move(opened);
    listener b = std::move(a);
    EXPECT_FALSE(a);
    a.close();
    EXPECT_TRUE(connect_to(name()));
    b = listener{};
    EXPECT_FALSE(connect_to(name()));
}

// Of many that find the same stale path exactly one may win, and it must be reachable afterwards.
TEST_F(unix_socket_test, one_of_many_takes_over_a_stale_path) {
    const test::temporary_directory directory;
    const auto name = socket_name::path(directory / "socket");
    for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(test::in_child([&] {
                      auto l = listener::open(name, 8);
                      if (l) ::raise(SIGKILL);
                      return 1;
                  }),
                  128 + SIGKILL);
        std::array<std::optional<result<listener>>, 4> opened;
        {
            std::latch together(static_cast<std::ptrdiff_t>(opened.size()));
            std::vector<std::jthread> threads;
            for (auto& slot : opened) {
                threads.emplace_back([&] {
                    together.arrive_and_wait();
                    slot.emplace(listener::open(name, 8));
                });
            }
        }
        int winners = 0;
        for (auto& slot : opened) {
            if (*slot) {
                ++winners;
            } else {
                EXPECT_EQ(slot->error().native, EADDRINUSE) << slot->error().text;
            }
        }
        EXPECT_EQ(winners, 1);
        EXPECT_TRUE(connect_to(name));
    }
}

// That nobody is let in while another one is deciding; bounded, in case the lock is a stranger's. Takes a second.
TEST_F(unix_socket_test, a_locked_directory_is_waited_for_and_then_reported) {
    const test::temporary_directory directory;
    const descriptor lock{::open((directory / ".").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
    const auto l = listener::open(socket_name::path(directory / "socket"), 8);
    ASSERT_FALSE(l);
    EXPECT_EQ(l.error().code, errc::timed_out);
    EXPECT_FALSE(std::filesystem::exists(directory / "socket"));
    ASSERT_EQ(::flock(lock.get(), LOCK_UN), 0);
    EXPECT_TRUE(listener::open(socket_name::path(directory / "socket"), 8));
}

TEST_F(unix_socket_test, a_path_that_is_no_socket_is_left_alone) {
    const test::temporary_directory directory;
    const std::string path = directory / "file";
    descriptor{::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)}.close();
    const auto l = listener::open(socket_name::path(path), 8);
    ASSERT_FALSE(l);
    EXPECT_TRUE(test::contains(l.error().text, "not a socket")) << l.error().text;
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_EQ(connect_to(socket_name::path(path)).error().code, errc::peer_unreachable);
}

TEST_F(unix_socket_test, close_leaves_a_successors_path_alone) {
    const test::temporary_directory directory;
    const std::string path = directory / "socket";
    auto first = listener::open(socket_name::path(path), 8);
    ASSERT_TRUE(first);
    ASSERT_EQ(::unlink(path.c_str()), 0);  // somebody cleaned up
    auto second = listener::open(socket_name::path(path), 8);
    ASSERT_TRUE(second);
    first->close();
    EXPECT_TRUE(connect_to(socket_name::path(path)));
    second->close();
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(unix_socket_test, bad_names_are_refused) {
    const test::temporary_directory directory;
    for (const auto& name :
         {socket_name::abstract(""), socket_name::path(""), socket_name::abstract(std::string(108, 'x')),
          socket_name::path(std::string(108, 'x')), socket_name::abstract(std::string_view("a\0b", 3))}) {
        EXPECT_EQ(listener::open(name, 8).error().code, errc::invalid_argument);
        EXPECT_EQ(connect_to(name).error().code, errc::invalid_argument);
    }
    std::string longest = test::fresh_name();
    longest.resize(107, 'x');
    EXPECT_TRUE(listener::open(socket_name::abstract(longest), 8));
    const auto missing = listener::open(socket_name::path(directory / "no/such/socket"), 8);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, errc::invalid_argument);
    EXPECT_EQ(missing.error().native, ENOENT);
}

TEST_F(unix_socket_test, a_socket_of_another_type_is_neither_stale_nor_reachable) {
    const test::temporary_directory directory;
    const std::string path = directory / "stream";
    const descriptor stream{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_storage raw{};
    raw.ss_family = AF_UNIX;
    path.copy(reinterpret_cast<char*>(&raw) + sizeof(sa_family_t), path.size());
    const auto size = static_cast<socklen_t>(sizeof(sa_family_t) + path.size() + 1);
    ASSERT_EQ(::bind(stream.get(), reinterpret_cast<sockaddr*>(&raw), size), 0);
    ASSERT_EQ(::listen(stream.get(), 1), 0);
    EXPECT_EQ(listener::open(socket_name::path(path), 8).error().native, EADDRINUSE);
    EXPECT_EQ(connect_to(socket_name::path(path)).error().code, errc::peer_unreachable);
}

TEST_F(unix_socket_test, carries_descriptors) {
    auto [a, b] = make_pair();
    const auto memory = create_memfd("unit", 4096);
    const auto event = eventfd::create();
    ASSERT_TRUE(memory && event);
    const int numbers[] = {memory->get(), event->file().get()};
    ASSERT_TRUE(a.send(bytes("x"), numbers));
    std::array<std::byte, 4> room;
    auto got = b.receive(room);
    ASSERT_TRUE(got);
    ASSERT_EQ(got->descriptor_count, 2u);
    EXPECT_EQ(::fcntl(got->descriptors[0].get(), F_GETFD), FD_CLOEXEC);
    EXPECT_TRUE(check_sealed(got->descriptors[0], 4096));
    const auto theirs = eventfd::adopt(std::move(got->descriptors[1]));
    ASSERT_TRUE(theirs);
    EXPECT_TRUE(theirs->signal().ok());
    EXPECT_EQ(event->drain(), 1u);
}

TEST_F(unix_socket_test, carries_as_many_descriptors_as_promised_and_no_more) {
    auto [a, b] = make_pair();
    const auto event = eventfd::create();
    ASSERT_TRUE(event);
    const std::vector<int> most(descriptors_max, event->file().get());
    ASSERT_TRUE(a.send(bytes("x"), most));
    std::array<std::byte, 4> room;
    auto got = b.receive(room);
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_EQ(got->descriptor_count, descriptors_max);
    const std::vector<int> more(descriptors_max + 1, event->file().get());
    EXPECT_EQ(a.send(bytes("x"), more).error().code, errc::invalid_argument);
    EXPECT_FALSE(a.send(bytes("x"), std::vector<int>{-1}));
}

// A peer that does not use our class: more descriptors than we take. None may stay open (the fixture counts).
TEST_F(unix_socket_test, closes_descriptors_that_are_too_many) {
    auto [a, b] = make_pair();
    const auto event = eventfd::create();
    ASSERT_TRUE(event);
    constexpr std::size_t count = descriptors_max + 5;
    alignas(cmsghdr) char control[CMSG_SPACE(count * sizeof(int))] = {};
    char byte = 'x';
    iovec data{&byte, 1};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (std::size_t i = 0; i < count; ++i) reinterpret_cast<int*>(CMSG_DATA(part))[i] = event->file().get();
    ASSERT_EQ(::sendmsg(a.file().get(), &message, 0), 1);
    std::array<std::byte, 4> room;
    EXPECT_EQ(b.receive(room).error().code, errc::protocol_error);
    ASSERT_TRUE(a.send(bytes("y")));
    EXPECT_TRUE(b.receive(room)) << "the connection goes on";
}

TEST_F(unix_socket_test, descriptor_exhaustion_at_the_receiver) {
    auto [a, b] = make_pair();
    const auto event = eventfd::create();
    ASSERT_TRUE(event);
    const std::vector<int> three(3, event->file().get());
    ASSERT_TRUE(a.send(bytes("x"), three));
    std::array<std::byte, 4> room;
    const test::lowered_limit low(RLIMIT_NOFILE, static_cast<rlim_t>(event->file().get()) + 2);
    const auto got = b.receive(room);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->size, 1U);  // the bytes are not lost
    EXPECT_TRUE(got->descriptors_lost);
    EXPECT_LT(got->descriptor_count, 3U);
}

TEST_F(unix_socket_test, accept_reports_exhaustion_and_recovers) {
    auto l = listener::open(socket_name::abstract(test::fresh_name()), 8);
    ASSERT_TRUE(l);
    auto client = connect_to(l->name());
    ASSERT_TRUE(client);
    {
        const test::lowered_limit low(RLIMIT_NOFILE, static_cast<rlim_t>(client->file().get()) + 1);
        EXPECT_EQ(l->accept().error().code, errc::no_descriptors);
        EXPECT_EQ(connect_to(l->name()).error().code, errc::no_descriptors);
    }
    EXPECT_TRUE(l->accept());
}

TEST_F(unix_socket_test, too_large_datagrams) {
    auto [a, b] = make_pair();
    const auto event = eventfd::create();
    ASSERT_TRUE(event);
    const int number = event->file().get();
    ASSERT_TRUE(a.send(bytes("12345"), std::span(&number, 1)));
    std::array<std::byte, 4> room;
    const auto cut = b.receive(room);
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code, errc::truncated);
    const std::vector<std::byte> huge(64 << 20);
    EXPECT_EQ(a.send(huge).error().code, errc::message_too_long);
    EXPECT_EQ(a.send({}).error().code, errc::invalid_argument);
}

TEST_F(unix_socket_test, a_full_buffer_means_try_again) {
    auto [a, b] = make_pair();
    const std::vector<std::byte> data(1000);
    std::vector<std::byte> room(1000);
    int sent = 0;
    for (;; ++sent) {
        ASSERT_LT(sent, 1'000'000);
        const auto answer = a.send(data);
        if (answer) continue;
        EXPECT_EQ(answer.error().code, errc::try_again);
        break;
    }
    EXPECT_GT(sent, 0);
    for (int i = 0; i < sent; ++i) ASSERT_TRUE(b.receive(room));
    EXPECT_EQ(b.receive(room).error().code, errc::try_again) << "what was refused was not sent";
    EXPECT_TRUE(a.send(data));
}

TEST_F(unix_socket_test, a_closed_peer_is_gone_after_its_last_words) {
    auto [a, b] = make_pair();
    std::array<std::byte, 8> room;
    ASSERT_TRUE(a.send(bytes("bye")));
    ASSERT_TRUE(b.send(bytes("unread")));  // the kernel reports this loss as a reset, before the last words
    a = connection{};
    auto last = b.receive(room);
    ASSERT_TRUE(last) << last.error().text;
    EXPECT_EQ(last->size, 3u);
    EXPECT_EQ(b.receive(room).error().code, errc::peer_gone);
    EXPECT_EQ(b.receive(room).error().code, errc::peer_gone);
    EXPECT_EQ(b.send(bytes("x")).error().code, errc::peer_gone) << "and no SIGPIPE";
}

TEST_F(unix_socket_test, shut_down_reaches_the_peer_past_a_duplicate) {
    auto [a, b] = make_pair();
    const auto copy = a.file().duplicate();
    ASSERT_TRUE(copy);
    a.shut_down();
    a = connection{};
    std::array<std::byte, 4> room;
    EXPECT_EQ(b.receive(room).error().code, errc::peer_gone);
    connection{}.shut_down();
}

TEST_F(unix_socket_test, a_killed_process_is_noticed) {
    auto l = listener::open(socket_name::abstract(test::fresh_name()), 8);
    ASSERT_TRUE(l);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto c = connect_to(l->name());
        if (c) ::pause();
        ::_exit(1);
    }
    wait_for(l->file(), POLLIN);
    auto server = l->accept();
    ASSERT_TRUE(server);
    const auto who = server->credentials();
    ASSERT_TRUE(who);
    EXPECT_EQ(who->pid, child);
    EXPECT_EQ(who->uid, ::geteuid());
    EXPECT_EQ(who->gid, ::getegid());
    const auto process = server->peer_pidfd();
    if (!process) {
        EXPECT_EQ(process.error().code, errc::not_supported) << process.error().text;
    }

    ASSERT_EQ(::kill(child, SIGKILL), 0);
    if (process) wait_for(*process, POLLIN);
    wait_for(server->file(), POLLIN);
    std::array<std::byte, 4> room;
    EXPECT_EQ(server->receive(room).error().code, errc::peer_gone);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const auto late = server->peer_pidfd();
    if (!late) {
        EXPECT_TRUE(late.error().code == errc::peer_gone || late.error().code == errc::not_supported)
            << late.error().text;
    }
}

TEST_F(unix_socket_test, adopts_seqpacket_sockets_only) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    auto good = connection::adopt(descriptor{ends[0]});
    const descriptor other{ends[1]};
    ASSERT_TRUE(good);
    std::array<std::byte, 4> room;
    EXPECT_EQ(good->receive(room).error().code, errc::try_again) << "would have blocked";
    EXPECT_FALSE(connection::adopt(descriptor{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)}));
    EXPECT_FALSE(connection::adopt(descriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)}));
    EXPECT_FALSE(connection::adopt(descriptor{}));
    EXPECT_FALSE(connection{}.credentials());
    EXPECT_FALSE(connection{}.peer_pidfd());
    EXPECT_FALSE(listener{}.accept());
}

}  // namespace
}  // namespace weft::os
