#include "process.hpp"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fstream>

#include "support.hpp"

namespace weft::conformance {

wire_to_other::~wire_to_other() { ::close(fd_); }

void wire_to_other::say(const std::string& line) {
    const std::string text = line + "\n";
    // A dead reader is an error here, not a signal: the library must not rely on SIGPIPE being ignored either.
    if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
        throw test_failure("cannot tell the other process \"" + line + "\": it is gone");
}

bool wire_to_other::something_to_hear() const {
    pollfd p{fd_, POLLIN, 0};
    return !unread_.empty() || ::poll(&p, 1, 0) > 0;
}

std::string wire_to_other::hear() {
    for (;;) {
        if (const auto end = unread_.find('\n'); end != std::string::npos) {
            std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        pollfd p{fd_, POLLIN, 0};
        if (::poll(&p, 1, patience_s * 1000) <= 0) throw test_failure("the other process said nothing in time");
        char bytes[512];
        const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
        if (n <= 0) throw test_failure("the other process is gone without a word");
        unread_.append(bytes, static_cast<std::size_t>(n));
    }
}

other_process::other_process(const std::function<void(wire_to_other&)>& body) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw test_failure("socketpair failed");
    std::fflush(nullptr);  // what is buffered must not be written twice
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw test_failure("fork failed");
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no process is left if the test itself dies
        if (::getppid() != parent) ::_exit(1);
        ::close(ends[0]);
        ::signal(SIGALRM, SIG_DFL);
        ::alarm(patience_s * 3);
        int status = 1;
        try {
            wire_to_other line(ends[1]);
            body(line);
            status = testing::Test::HasFailure() ? 1 : 0;
        } catch (const std::exception& e) {
            std::fprintf(stderr, "in the forked process: %s\n", e.what());
        }
        std::fflush(nullptr);
        ::_exit(status);  // not exit: the parent's objects are not ours to destroy
    }
    ::close(ends[1]);
    line_ = new wire_to_other(ends[0]);
}

other_process::~other_process() {
    kill();
    delete line_;
}

int other_process::wait() {
    const deadline end(patience_s * 2);
    for (int status = 0;;) {
        const pid_t got = ::waitpid(pid_, &status, WNOHANG);
        if (got == pid_) {
            pid_ = -1;
            return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        }
        if (got < 0 && errno != EINTR) throw test_failure("the other process cannot be waited for");
        if (end.passed()) throw test_failure("the other process does not end");
        ::usleep(1000);  // only this loop's pace: the event itself is the child's end
    }
}

void other_process::kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

static std::vector<std::string> names_in(const std::string& directory, bool with_target) {
    std::vector<std::string> names;
    DIR* d = ::opendir(directory.c_str());
    if (d == nullptr) return names;
    const std::string itself = std::to_string(::dirfd(d));
    while (const dirent* e = ::readdir(d)) {
        const std::string name = e->d_name;
        if (name == "." || name == ".." || name == itself) continue;
        char target[256];
        const ssize_t n = with_target ? ::readlink((directory + "/" + name).c_str(), target, sizeof target) : 0;
        names.push_back(name + (n > 0 ? " -> " + std::string(target, static_cast<std::size_t>(n)) : ""));
    }
    ::closedir(d);
    std::sort(names.begin(), names.end());
    return names;
}

belongings belongings::now() {
    belongings b;
    b.descriptors = names_in("/proc/self/fd", true);
    b.shared_files = names_in("/dev/shm", false);
    std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    for (std::string pid; children >> pid;) b.children.push_back(pid);
    std::sort(b.children.begin(), b.children.end());
    return b;
}

std::string belongings::left_since() const {
    const belongings after = now();
    std::string text;
    const auto compare = [&](const char* what, const auto& old_names, const auto& new_names) {
        for (const auto& name : new_names)
            if (!std::binary_search(old_names.begin(), old_names.end(), name))
                text += std::string(what) + " [" + name + "] ";
    };
    compare("descriptor", descriptors, after.descriptors);
    compare("file in /dev/shm", shared_files, after.shared_files);
    compare("process", children, after.children);
    return text;
}

}  // namespace weft::conformance
