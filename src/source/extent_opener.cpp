#include "source/extent_opener.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "base/failure_text.h"
#include "source/access.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

bool is_dangling_link(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
}

Kind error_kind(int error) {
  if (error == EACCES || error == EPERM) return Kind::not_allowed;
  return error == ETIMEDOUT ? Kind::timed_out : Kind::unreadable;
}

// Exhausted resources of the machine are not a fault of the sample: skipping it would not help.
[[noreturn]] void fail(const std::string& place, const std::string& what, int error) {
  const std::string why = what + ": " + std::generic_category().message(error);
  const std::string remedy = exhaustion_hint(error);
  if (!remedy.empty()) throw RunError(place + " " + why, remedy);
  throw SampleError(error_kind(error), why);
}

}  // namespace

void fail_to_open(const std::string& path, int error) {
  if (error == ENOENT && is_dangling_link(path))
    throw SampleError(Kind::unreadable, "is a link to a file that is missing");
  fail(shown_text(path) + ":", "cannot be opened", error);
}

void fail_to_read(int error) { fail("a sample", "cannot be read", error); }

SampleError shrank(std::size_t bytes, std::size_t expected) {
  return {Kind::truncated, "shrank while it was read: ended after " + std::to_string(bytes) +
                               " of " + std::to_string(expected) + " bytes"};
}

std::shared_ptr<const OpenObject> checked_object(Fd fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) fail_to_read(errno);
  if (S_ISDIR(facts.st_mode)) throw SampleError(Kind::unreadable, "is a folder, not a file");
  if (!S_ISREG(facts.st_mode)) throw SampleError(Kind::unreadable, "is not a regular file");
  return std::make_shared<const OpenObject>(
      OpenObject{std::move(fd), static_cast<std::size_t>(facts.st_size), facts.st_dev});
}

// Not blocking, so that a pipe among the files cannot keep the worker.
int ExtentOpener::flags() const {
  return O_RDONLY | O_CLOEXEC | O_NONBLOCK | (no_atime_ ? O_NOATIME : 0);
}

bool ExtentOpener::may_try_again(int flags, int error) {
  if (error == EINTR) return true;
  if ((error == EMFILE || error == ENFILE) && !kept_.empty()) {
    kept_.clear();
    return true;
  }
  if (error != EPERM || (flags & O_NOATIME) == 0) return false;
  no_atime_ = false;
  return true;
}

Fd ExtentOpener::open_path() {
  for (;;) {
    const int tried = flags();
    Fd fd(::open(path_.c_str(), tried));
    if (fd >= 0 || !may_try_again(tried, errno)) return fd;
  }
}

std::shared_ptr<const OpenObject> ExtentOpener::open_object(std::int64_t object) {
  access_.extents().get_path(object, path_);
  Fd fd = open_path();
  if (fd < 0) fail_to_open(path_, errno);
  access_.count_opened();
  return checked_object(std::move(fd));
}

OpenExtent ExtentOpener::open(std::int64_t sample) {
  const Extent extent = access_.extents().extent(sample);
  return checked(extent,
                 is_reopened(extent) ? open_object(extent.object) : kept_.get(extent.object, [&] {
                   return open_object(extent.object);
                 }));
}

bool ExtentOpener::is_reopened(const Extent& extent) const {
  return extent.length == Extent::kToEnd || access_.extents().opens_for_each_sample();
}

OpenExtent ExtentOpener::checked(const Extent& extent,
                                 std::shared_ptr<const OpenObject> object) const {
  const auto has = static_cast<Bytes>(object->size);
  const Bytes size = extent.length == Extent::kToEnd ? has : extent.length;
  if (size <= 0) throw SampleError(Kind::truncated, "is empty");
  if (size > access_.largest_sample()) {
    throw SampleError(Kind::too_large, "has " + std::to_string(size) + " bytes, more than the " +
                                           std::to_string(access_.largest_sample()) +
                                           " that a sample may have");
  }
  if (extent.offset > has - size) {
    throw SampleError(Kind::truncated, "should end at byte " +
                                           std::to_string(extent.offset + size) +
                                           " of a file that has " + std::to_string(has));
  }
  access_.count_sample(size);
  return {std::move(object), static_cast<std::size_t>(extent.offset),
          static_cast<std::size_t>(size)};
}

}  // namespace loaderscope::source
