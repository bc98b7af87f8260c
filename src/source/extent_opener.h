// The objects of samples, opened for one reader.
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

// Place of a sample's bytes in its object. The object stays open as long as this exists.
struct OpenExtent {
  std::shared_ptr<const OpenObject> object;
  std::size_t offset = 0, size = 0;
};

// Opens objects so that reading leaves no trace: no access time if that is allowed. An object with
// one sample is opened for that sample, as a loader of files does it. The last used objects with
// several samples stay open, unless their source requires an open for each sample.
class ExtentOpener {
 public:
  explicit ExtentOpener(const Access& access) : access_(access) {}
  // Opens a sample that is not empty, not too large and within its object. Throws SampleError.
  OpenExtent open(std::int64_t sample);

  // The steps of `open`, for readers that let the kernel open objects asynchronously.
  int flags() const;  // flags of open(2)
  // Returns true if an open with `flags` that failed with `error` must be repeated with flags().
  bool may_try_again(int flags, int error);
  OpenExtent checked(const Extent& extent, std::shared_ptr<const OpenObject> object) const;
  std::shared_ptr<const OpenObject> open_object(std::int64_t object);
  // true: `open` opens the object for this sample alone
  bool is_reopened(const Extent& extent) const;

 private:
  static constexpr std::size_t kMaxKept = 32;  // descriptors of one reader
  Fd open_path();

  const Access& access_;
  std::string path_;
  LruCache<std::shared_ptr<const OpenObject>> kept_{kMaxKept};
  bool no_atime_ = true;  // false after a refusal: files of other users
};

// Throws SampleError unless it is a regular file.
std::shared_ptr<const OpenObject> checked_object(Fd fd);

// Throw SampleError, or RunError if a resource of the machine ran out.
[[noreturn]] void fail_to_open(const std::string& path, int error);
[[noreturn]] void fail_to_read(int error);
SampleError shrank(std::size_t bytes, std::size_t expected);

}  // namespace loaderscope::source
