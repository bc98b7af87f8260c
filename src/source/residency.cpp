#include "source/residency.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace loaderscope::source {
namespace {

// Linux 6.5; the headers of older systems do not have them.
constexpr long kCachestat = 451;
struct CacheRange {
  std::uint64_t offset = 0, length = 0;  // 0: to the end
};
struct CacheCounts {
  std::uint64_t cached = 0, dirty = 0, writeback = 0, evicted = 0, recently_evicted = 0;
};

Bytes page_size() { return ::sysconf(_SC_PAGESIZE); }

std::optional<Residency> ask_cachestat(int fd, Bytes offset, Bytes size) {
  CacheRange range{static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(size)};
  CacheCounts counts;
  if (::syscall(kCachestat, fd, &range, &counts, 0U) != 0) return std::nullopt;
  const Bytes cached = static_cast<Bytes>(counts.cached) * page_size();
  return Residency{size, std::min(size, cached), counts.dirty + counts.writeback > 0};
}

bool mincore_is_exact(int fd, const struct stat& facts) {
  if (facts.st_uid == ::geteuid() || ::geteuid() == 0) return true;
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

std::optional<Residency> ask_mincore(int fd, Bytes offset, Bytes size) {
  const Bytes begin = offset / page_size() * page_size();
  const auto length = static_cast<std::size_t>(size + offset - begin);
  const auto page = static_cast<std::size_t>(page_size());
  std::vector<unsigned char> pages((length + page - 1) / page);
  // Maps the file without reading through the mapping, so a file that shrinks does no harm.
  void* mapped = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd, begin);
  if (mapped == MAP_FAILED) return std::nullopt;
  const bool got = ::mincore(mapped, length, pages.data()) == 0;
  ::munmap(mapped, length);
  if (!got) return std::nullopt;
  const auto resident =
      std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1) != 0; });
  return Residency{size, std::min(size, resident * page_size()), true};
}

}  // namespace

std::string_view name_of(ResidencyMethod method) {
  switch (method) {
    case ResidencyMethod::cachestat:
      return "cachestat";
    case ResidencyMethod::mincore:
      return "mincore";
    case ResidencyMethod::none:
      return "none";
  }
  return "?";
}

ResidencyMethod best_residency_method() {
  // A kernel or a sandbox without the call says so before it looks at the file.
  CacheRange range;
  CacheCounts counts;
  const bool known = ::syscall(kCachestat, -1, &range, &counts, 0U) == 0 || errno == EBADF;
  return known ? ResidencyMethod::cachestat : ResidencyMethod::mincore;
}

std::optional<Residency> read_residency(int fd, ResidencyMethod method) {
  return read_residency(fd, method, 0, std::numeric_limits<Bytes>::max());
}

std::optional<Residency> read_residency(int fd, ResidencyMethod method, Bytes offset,
                                        Bytes length) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  const Bytes size = std::min(length, facts.st_size - std::min<Bytes>(offset, facts.st_size));
  if (size <= 0) return Residency{0, 0, false};
  if (method == ResidencyMethod::cachestat) {
    const auto got = ask_cachestat(fd, offset, size);
    if (got) return got;  // null: refused, for huge page file systems or files of others
  }
  if (method == ResidencyMethod::none || !mincore_is_exact(fd, facts)) return std::nullopt;
  return ask_mincore(fd, offset, size);
}

}  // namespace loaderscope::source
