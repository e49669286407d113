#include "os/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "os/error.hpp"

namespace weft::os {

void descriptor::close() noexcept {
    if (number_ < 0) return;
    const int error = errno;
    ::close(std::exchange(number_, -1));  // never repeated: Linux frees the number even when it answers EINTR
    errno = error;
}

result<descriptor> descriptor::duplicate() const {
    const int copy = ::fcntl(number_, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return system_failure(errno, "duplicate descriptor " + std::to_string(number_));
    return descriptor{copy};
}

}  // namespace weft::os
