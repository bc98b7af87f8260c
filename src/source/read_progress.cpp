#include "source/read_progress.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "source/access.h"
#include "source/extent_opener.h"
#include "source/kernel_access.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kMaxAtOnce = std::size_t{1} << 30;  // the kernel's limit is just below 2 GiB

}  // namespace

std::size_t ReadProgress::length() const { return std::min(buffer_bytes() - place(), kMaxAtOnce); }

void ReadProgress::answered(std::int64_t result) {
  if (result == -EINTR) return;
  if (result < 0) fail_to_read(static_cast<int>(-result));
  const std::size_t end = offset() + static_cast<std::size_t>(result);
  if (end <= begin_ + done_) throw shrank(done_, size_);
  done_ = std::min(end - begin_, size_);
}

ReadProgress begin_cached(const OpenExtent& extent) {
  return ReadProgress(extent.size, 1, extent.offset);
}

std::size_t DirectSwitch::extent_alignment(const OpenExtent& extent) {
  const OpenObject& object = *extent.object;
  if (!knows_device_ || device_ != object.device) {
    alignment_ = access_.kernel().direct_reads(object.fd).alignment;
    device_ = object.device;
    knows_device_ = true;
  }
  return alignment_;
}

ReadProgress DirectSwitch::begin(const OpenExtent& extent) {
  const std::size_t alignment = extent_alignment(extent);
  if (alignment == 0 || !change_flags(extent.object->fd, O_DIRECT, O_NONBLOCK))
    return give_up(extent);
  return ReadProgress(extent.size, alignment, extent.offset);
}

ReadProgress DirectSwitch::give_up(const OpenExtent& extent) {
  access_.count_read_through_cache();
  change_flags(extent.object->fd, 0, O_DIRECT | O_NONBLOCK);
  return begin_cached(extent);
}

}  // namespace loaderscope::source
