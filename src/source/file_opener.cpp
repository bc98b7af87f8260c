#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>
#include <utility>

#include "base/shortage.h"
#include "loaderscope/errors.h"
#include "loaderscope/units.h"
#include "source/file_source.h"
#include "source/readers.h"

namespace loaderscope::source {
namespace {

bool is_dangling_link(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
}

// What the machine has too little of is no fault of the sample: skipping it would not help.
[[noreturn]] void fail(const std::string& place, const std::string& what, int error) {
  const std::string why = what + ": " + std::generic_category().message(error);
  const std::string remedy = shortage_remedy(error);
  if (!remedy.empty()) throw RunError(place + " " + why + "; " + remedy);
  throw SampleError(SampleError::Kind::unreadable, why);
}

}  // namespace

void fail_to_open(const std::string& path, int error) {
  if (error == ENOENT && is_dangling_link(path))
    throw SampleError(SampleError::Kind::unreadable, "is a link to a file that is missing");
  fail(shown_text(path) + ":", "cannot be opened", error);
}

void fail_to_read(int error) { fail("a sample", "cannot be read", error); }

SampleError shrank(std::size_t bytes, std::size_t expected) {
  return {SampleError::Kind::truncated, "shrank while it was read: ended after " +
                                            std::to_string(bytes) + " of " +
                                            std::to_string(expected) + " bytes"};
}

void SampleBuffer::Free::operator()(std::byte* p) const { std::free(p); }

std::span<std::byte> SampleBuffer::take(std::size_t bytes) {
  if (bytes > size_) {
    const std::size_t wanted = (std::max(bytes, size_ + size_ / 2) + kPage - 1) / kPage * kPage;
    bytes_.reset();
    size_ = 0;
    bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, wanted)));
    if (!bytes_) throw std::bad_alloc();
    size_ = wanted;
  }
  return {bytes_.get(), bytes};
}

// Not blocking, so that a pipe among the files cannot keep the worker.
int FileOpener::flags() const {
  return O_RDONLY | O_CLOEXEC | O_NONBLOCK | (no_atime_ ? O_NOATIME : 0);
}

bool FileOpener::may_try_again(int flags, int error) {
  if (error == EINTR) return true;
  if (error != EPERM || (flags & O_NOATIME) == 0) return false;
  no_atime_ = false;
  return true;
}

Fd FileOpener::open_path() {
  for (;;) {
    const int tried = flags();
    Fd fd(::open(path_.c_str(), tried));
    if (fd >= 0 || !may_try_again(tried, errno)) return fd;
  }
}

OpenFile FileOpener::open(std::int64_t sample) {
  source_.path_of(sample, path_);
  Fd fd = open_path();
  if (fd < 0) fail_to_open(path_, errno);
  return checked(std::move(fd));
}

OpenFile FileOpener::checked(Fd fd) const {
  using Kind = SampleError::Kind;
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) fail_to_read(errno);
  if (S_ISDIR(facts.st_mode)) throw SampleError(Kind::unreadable, "is a folder, not a file");
  if (!S_ISREG(facts.st_mode)) throw SampleError(Kind::unreadable, "is not a regular file");
  if (facts.st_size <= 0) throw SampleError(Kind::truncated, "is empty");
  if (facts.st_size > source_.largest_sample()) {
    throw SampleError(Kind::too_large,
                      "has " + std::to_string(facts.st_size) + " bytes, more than the " +
                          std::to_string(source_.largest_sample()) + " that a sample may have");
  }
  return {std::move(fd), static_cast<std::size_t>(facts.st_size), facts.st_dev};
}

}  // namespace loaderscope::source
