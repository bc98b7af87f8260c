// The objects of samples, open for one reader.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "loaderscope/source.h"
#include "source/lru_cache.h"

namespace loaderscope::source {

class Access;

// A regular file, open for reading.
struct OpenObject {
  Fd fd;
  std::size_t size = 0;
  dev_t device = 0;
};

// Where the bytes of a sample lie in its object, which stays open as long as this is held.
struct OpenExtent {
  std::shared_ptr<const OpenObject> object;
  std::size_t offset = 0, size = 0;
};

// Opens objects so that reading leaves no trace (no access time where that is allowed). What holds
// one sample is opened for that sample, as a loader of files does it; of objects that hold several
// the last ones used stay open, unless their source says that each sample opens its own.
class ExtentOpener {
 public:
  explicit ExtentOpener(const Access& access) : access_(access) {}
  // A sample that is not empty, not too large and within its object. Throws SampleError.
  OpenExtent open(std::int64_t sample);

  // The parts of `open`, for readers that have the kernel open objects meanwhile.
  int flags() const;  // of open(2)
  // Whether an open with `flags` that failed with `error` is worth another try with flags().
  bool may_try_again(int flags, int error);
  OpenExtent checked(const Extent& extent, std::shared_ptr<const OpenObject> object) const;
  std::shared_ptr<const OpenObject> open_object(std::int64_t object);
  bool is_opened_anew(const Extent& extent) const;  // by `open`, for this one sample

 private:
  static constexpr std::size_t kMaxKept = 32;  // descriptors of one reader
  Fd open_path();

  const Access& access_;
  std::string path_;
  LruCache<std::shared_ptr<const OpenObject>> kept_{kMaxKept};
  bool no_atime_ = true;  // until it is refused: files of other users
};

// Throws SampleError for what is no regular file.
std::shared_ptr<const OpenObject> checked_object(Fd fd);

// Throw SampleError, or RunError where the machine had too little of something.
[[noreturn]] void fail_to_open(const std::string& path, int error);
[[noreturn]] void fail_to_read(int error);
SampleError shrank(std::size_t bytes, std::size_t expected);

}  // namespace loaderscope::source
