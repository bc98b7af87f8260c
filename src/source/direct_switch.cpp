#include "source/direct_switch.h"

#include <fcntl.h>

#include "source/file_source.h"
#include "source/kernel_access.h"

namespace loaderscope::source {

std::size_t DirectSwitch::alignment_of(const OpenFile& file) {
  if (!knows_device_ || device_ != file.device) {
    alignment_ = source_.kernel().direct_reads(file.fd).alignment;
    device_ = file.device;
    knows_device_ = true;
  }
  return alignment_;
}

ReadProgress DirectSwitch::begin(const OpenFile& file) {
  const std::size_t alignment = alignment_of(file);
  if (alignment == 0 || !change_flags(file.fd, O_DIRECT, O_NONBLOCK)) return begin_cached(file);
  return ReadProgress(file.size, alignment);
}

ReadProgress DirectSwitch::begin_cached(const OpenFile& file) {
  source_.count_read_through_cache();
  change_flags(file.fd, 0, O_DIRECT | O_NONBLOCK);
  return ReadProgress(file.size);
}

}  // namespace loaderscope::source
