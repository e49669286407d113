// A second process for a test: forked before anything of weft is open, talked to through a socket pair, never left
// behind.
#pragma once
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace weft::conformance {

// Lines of text between the two processes. Reading has a deadline and throws after it.
class wire_to_other {
  public:
    explicit wire_to_other(int fd) : fd_(fd) {}
    wire_to_other(const wire_to_other&) = delete;
    wire_to_other& operator=(const wire_to_other&) = delete;
    ~wire_to_other();
    void say(const std::string& line);
    std::string hear();
    bool something_to_hear() const;

  private:
    int fd_;
    std::string unread_;
};

class other_process {
  public:
    // Forks. The child runs `body` and ends with status 0, or with 1 if it throws; then its sentence is on stderr.
    explicit other_process(const std::function<void(wire_to_other&)>& body);
    other_process(const other_process&) = delete;
    other_process& operator=(const other_process&) = delete;
    ~other_process();  // kills it if it still runs

    wire_to_other& line() { return *line_; }
    int wait();   // exit status, or minus the signal that ended it; throws after a deadline
    void kill();  // SIGKILL, and waits until it is gone

  private:
    pid_t pid_ = -1;
    wire_to_other* line_ = nullptr;
};

// What a process may leave behind: its descriptors, files in /dev/shm, children.
struct belongings {
    std::vector<std::string> descriptors, shared_files, children;
    static belongings now();
    // What is here now and was not before, for a message; empty when nothing is.
    std::string left_since() const;
};

}  // namespace weft::conformance
