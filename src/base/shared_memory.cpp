#include "base/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include "loaderscope/errors.h"
#include "loaderscope/units.h"

namespace loaderscope {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAtLeast = std::size_t{1} << 20;  // untouched pages cost nothing

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

[[noreturn]] void complain(std::size_t bytes) {
  throw RunError("host memory: " + format_size(static_cast<double>(bytes)) +
                     " to share with worker processes are not available (" + std::strerror(errno) +
                     ")",
                 "use fewer --num-workers, a smaller --prefetch-factor or a smaller --batch-size");
}

}  // namespace

SharedMemory::~SharedMemory() {
  for (const Mapping& mapping : mappings_) ::munmap(mapping.begin, mapping.bytes);
}

void* SharedMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
  if (closed_) throw std::logic_error("shared memory is asked for after the fork");
  if (alignment > kPage) throw std::bad_alloc();
  used_ = round_up(used_, alignment);
  if (mappings_.empty() || used_ + bytes > mappings_.back().bytes) map(bytes);
  void* place = mappings_.back().begin + used_;
  used_ += bytes;
  return place;
}

// Each mapping is as large as all before it together: a fork copies mappings one by one, and that
// of thousands of them takes longer than all else that it does.
void SharedMemory::map(std::size_t bytes) {
  std::size_t so_far = 0;
  for (const Mapping& mapping : mappings_) so_far += mapping.bytes;
  const std::size_t needed = std::max(round_up(bytes, kPage), kAtLeast);
  if (so_far > needed && try_to_map(so_far)) return;
  if (!try_to_map(needed)) complain(needed);
}

bool SharedMemory::try_to_map(std::size_t length) {
  const int descriptor = ::memfd_create("loaderscope", MFD_CLOEXEC);
  if (descriptor < 0) return false;
  void* address = MAP_FAILED;
  if (::ftruncate(descriptor, static_cast<off_t>(length)) == 0)
    address = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  if (address == MAP_FAILED) return false;
  mappings_.push_back({static_cast<std::byte*>(address), length});
  used_ = 0;
  return true;
}

}  // namespace loaderscope
