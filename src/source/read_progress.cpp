#include "source/read_progress.h"

#include <algorithm>
#include <cerrno>

#include "source/readers.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // the kernel's limit is just below 2 GiB

}  // namespace

std::size_t ReadProgress::length() const {
  return std::min(buffer_bytes() - offset(), kMostAtOnce);
}

void ReadProgress::answered(std::int64_t result) {
  if (result == -EINTR) return;
  if (result < 0) fail_to_read(static_cast<int>(-result));
  const std::size_t end = offset() + static_cast<std::size_t>(result);
  if (end <= done_) throw shrank(done_, size_);
  done_ = std::min(end, size_);
}

}  // namespace loaderscope::source
