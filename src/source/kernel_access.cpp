#include "source/kernel_access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "loaderscope/errors.h"
#include "source/readers.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kMaxAlignment = 64 << 10;

std::string error_text(int error) { return std::generic_category().message(error); }

// Reads statx, which Linux 6.1 and newer support on some file systems.
std::optional<DirectReads> ask_statx([[maybe_unused]] int fd) {
#ifdef STATX_DIOALIGN
  struct statx facts {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) != 0) return std::nullopt;
  if ((facts.stx_mask & STATX_DIOALIGN) == 0) return std::nullopt;
  if (facts.stx_dio_offset_align == 0) return DirectReads{0, "the file system has no O_DIRECT"};
  if (facts.stx_dio_mem_align > kPage) {
    return DirectReads{0, "O_DIRECT needs buffers aligned to " +
                              std::to_string(facts.stx_dio_mem_align) + " bytes here"};
  }
  return DirectReads{std::max(facts.stx_dio_offset_align, facts.stx_dio_mem_align), ""};
#else
  return std::nullopt;
#endif
}

// The smallest read from the beginning that the kernel takes.
DirectReads found_by_reading(int fd) {
  const std::unique_ptr<void, decltype(&std::free)> buffer(
      std::aligned_alloc(kMaxAlignment, kMaxAlignment), &std::free);
  if (!buffer) throw std::bad_alloc();
  for (std::size_t length = 512; length <= kMaxAlignment; length *= 2) {
    ssize_t got = 0;
    do {
      got = ::pread(fd, buffer.get(), length, 0);
    } while (got < 0 && errno == EINTR);
    if (got >= 0) return {length, ""};
    if (errno != EINVAL) return {0, "a read with O_DIRECT failed (" + error_text(errno) + ")"};
  }
  return {0, "the file system opens files with O_DIRECT and refuses every read"};
}

}  // namespace

bool change_flags(int fd, int on, int off) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && ::fcntl(fd, F_SETFL, (flags | on) & ~off) == 0;
}

std::optional<std::string> KernelAccess::ring_refusal() const { return uring_refusal(); }
std::unique_ptr<Ring> KernelAccess::make_ring(unsigned entries) const {
  return make_uring(entries);
}

DirectReads KernelAccess::direct_reads(int fd) const {
  const FileSystemKind kind = find_file_system(fd);
  if (kind.memory_only) {
    return {0, "a " + std::string(kind.name) + " lies in memory, past which nothing can be read"};
  }
  if (!change_flags(fd, O_DIRECT, 0)) {
    return {0, "the file system has no O_DIRECT (" + error_text(errno) + ")"};
  }
  const auto found = ask_statx(fd);
  return found ? *found : found_by_reading(fd);
}

const KernelAccess& this_kernel() {
  static const KernelAccess kernel;
  return kernel;
}

}  // namespace loaderscope::source
