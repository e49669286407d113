// The files of copyfile: reading one, and making one that appears under its name only when it is complete.
#pragma once
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "copyfile_protocol.hpp"

namespace copyfile {

// Ends what is being done; its text is for the person in front of the terminal.
struct trouble : std::runtime_error {
    using std::runtime_error::runtime_error;
};
inline trouble system_trouble(const std::string& what) { return trouble(what + ": " + std::strerror(errno)); }

// One's own file cannot be read to its end; the other side has to be told.
struct read_failed : trouble {
    using trouble::trouble;
};

class descriptor {
  public:
    descriptor() = default;
    explicit descriptor(int fd) noexcept : fd_(fd) {}
    descriptor(descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
    descriptor& operator=(descriptor&& o) noexcept {
        std::swap(fd_, o.fd_);
        return *this;
    }
    ~descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }

  private:
    int fd_ = -1;
};

class sha256 {
  public:
    sha256() : context_(::EVP_MD_CTX_new()) {
        if (!context_ || ::EVP_DigestInit_ex(context_.get(), ::EVP_sha256(), nullptr) != 1)
            throw trouble("this machine's libcrypto cannot compute SHA-256");
    }
    void add(std::span<const std::byte> bytes) {
        if (::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) throw trouble("SHA-256 failed");
    }
    digest finish() {
        digest d{};
        if (::EVP_DigestFinal_ex(context_.get(), d.data(), nullptr) != 1) throw trouble("SHA-256 failed");
        return d;
    }

  private:
    struct free_context {
        void operator()(EVP_MD_CTX* c) const noexcept { ::EVP_MD_CTX_free(c); }
    };
    std::unique_ptr<EVP_MD_CTX, free_context> context_;
};

// A file that is sent.
class source_file {
  public:
    explicit source_file(const std::string& path) : path_(path) {
        const auto slash = path.find_last_of('/');
        name_ = slash == path.npos ? path : path.substr(slash + 1);
        // Without O_NONBLOCK, opening a named pipe would wait for its writer.
        file_ = descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        if (!file_) throw system_trouble("cannot read " + path);
        struct stat about{};
        if (::fstat(file_.get(), &about) != 0) throw system_trouble("cannot read " + path);
        if (!S_ISREG(about.st_mode)) throw trouble("cannot send " + path + ": it is not a regular file");
        size_ = static_cast<std::uint64_t>(about.st_size);
        mode_ = about.st_mode & 0777u;
    }

    // Fills `room`; the file must have that many bytes.
    void read(std::span<std::byte> room) {
        while (!room.empty()) {
            const ssize_t n = ::read(file_.get(), room.data(), room.size());
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) throw read_failed(system_trouble("cannot read " + path_).what());
            if (n == 0) throw read_failed(path_ + " became shorter while it was sent");
            room = room.subspan(static_cast<std::size_t>(n));
        }
    }
    void must_end_here() {
        std::byte more;
        if (::read(file_.get(), &more, 1) == 1) throw read_failed(path_ + " became longer while it was sent");
    }

    const std::string& name() const noexcept { return name_; }
    std::uint64_t size() const noexcept { return size_; }
    std::uint32_t mode() const noexcept { return mode_; }

  private:
    std::string path_, name_;
    descriptor file_;
    std::uint64_t size_ = 0;
    std::uint32_t mode_ = 0;
};

// A file that is being received. Until publish() it has no name, or where the file system does not know that, a
// temporary one that the destructor removes.
class target_file {
  public:
    target_file(int directory, std::string name, std::uint64_t size) : directory_(directory), name_(std::move(name)) {
        struct stat there{};
        if (::fstatat(directory_, name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(there.st_mode))
            throw trouble("cannot write " + name_ + ": there is a directory of that name");
        file_ = descriptor(::openat(directory_, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
        if (!file_) {
            temporary_ = fresh_name();
            file_ = descriptor(::openat(directory_, temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
            if (!file_) {
                temporary_.clear();  // not ours
                throw system_trouble("cannot write " + name_);
            }
        }
        reserve(size);
    }
    target_file(const target_file&) = delete;
    target_file& operator=(const target_file&) = delete;
    ~target_file() {
        if (!temporary_.empty()) ::unlinkat(directory_, temporary_.c_str(), 0);
    }

    void write(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) throw system_trouble("cannot write " + name_);
            bytes = bytes.subspan(static_cast<std::size_t>(n));
        }
    }

    // Gives the complete file its name. A file that had it is replaced, in one step.
    void publish(std::uint32_t mode) {
        if (::fchmod(file_.get(), mode & 0777u) != 0) throw system_trouble("cannot set the permissions of " + name_);
        if (temporary_.empty()) {
            std::string fresh = fresh_name();
            const std::string ours = "/proc/self/fd/" + std::to_string(file_.get());
            if (::linkat(AT_FDCWD, ours.c_str(), directory_, fresh.c_str(), AT_SYMLINK_FOLLOW) != 0)
                throw system_trouble("cannot name " + name_);
            temporary_ = std::move(fresh);
        }
        if (::renameat(directory_, temporary_.c_str(), directory_, name_.c_str()) != 0)
            throw system_trouble("cannot name " + name_);
        temporary_.clear();
    }

  private:
    static std::string fresh_name() {
        std::uint64_t number = 0;
        if (::getrandom(&number, sizeof number, 0) != sizeof number) throw system_trouble("no random numbers");
        char text[40];
        std::snprintf(text, sizeof text, ".copyfile-%016llx", static_cast<unsigned long long>(number));
        return text;
    }

    // A full disk is better noticed before the first byte. Not every file system can say.
    void reserve(std::uint64_t size) {
        if (size == 0 || ::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size)) == 0) return;
        if (errno != ENOSPC && errno != EFBIG && errno != EDQUOT) return;
        throw system_trouble("cannot write " + name_ + ", which has " + std::to_string(size) + " bytes");
    }

    int directory_;
    std::string name_, temporary_;
    descriptor file_;
};

}  // namespace copyfile
