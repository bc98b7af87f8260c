#include "source/index_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <span>

#include "base/fd.h"
#include "base/hash.h"
#include "base/private_folder.h"
#include "source/cache_folder.h"
#include "source/parallel.h"
#include "source/store.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

// Coarsest time resolution of file systems: FAT and old NFS servers.
constexpr std::int64_t kCoarsestTime = 2'000'000'000;

bool read_all(int fd, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

std::string folder_path(const FolderEntry& folder, const std::vector<std::string>& roots) {
  const std::string& root = roots[folder.root];
  return folder.relative.empty() ? root : join_path(root, folder.relative);
}

bool unchanged(const Index& index, const std::vector<std::string>& roots,
               const SourceContext& context) {
  std::atomic<bool> same{true};
  for_each_index(index.folders(), "checking the index", context, [&](std::int64_t i) {
    const FolderEntry folder = index.folder(i);
    if (!same || folder.stamp.inode == 0) return;
    if (folder.root >= roots.size()) {
      same = false;
    } else {
      const std::string path = folder_path(folder, roots);
      if (find_store(path).look_at(path).stamp != folder.stamp) same = false;
    }
  });
  return same;
}

std::int64_t wall_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// The latest change of the folders that the index watches.
std::int64_t newest_change(const Index& index) {
  std::int64_t newest = 0;
  for (std::int64_t i = 0; i < index.folders(); ++i) {
    const FolderStamp stamp = index.folder(i).stamp;
    if (stamp.inode != 0) newest = std::max(newest, stamp.mtime_ns);
  }
  return newest;
}

}  // namespace

IndexCache::IndexCache(const SourceOptions& options, std::string_view key) {
  if (!options.use_index_cache) return;
  folder_ = options.cache_folder.empty() ? user_cache_folder() : options.cache_folder;
  if (folder_.empty()) return;
  file_ = join_path(folder_, fmt::format("index-{:016x}", hash_text(key)));
}

std::optional<Index> IndexCache::load(std::string_view identity,
                                      const std::vector<std::string>& roots,
                                      const SourceContext& context) const {
  if (file_.empty()) return std::nullopt;
  const Fd fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (fd < 0 || ::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_uid != ::geteuid()) {
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(facts.st_size);
  // Reads the magic first, before memory is allocated for the whole file.
  std::array<char, 8> magic{};
  if (size < sizeof(IndexHeader) || ::pread(fd, magic.data(), magic.size(), 0) != 8 ||
      magic != kIndexMagic) {
    return std::nullopt;
  }
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(size);
  if (!read_all(fd, {bytes.get(), size})) return std::nullopt;
  std::optional<Index> index = Index::parse(std::move(bytes), size);
  if (!index || index->identity() != identity || !unchanged(*index, roots, context)) {
    return std::nullopt;
  }
  return index;
}

void IndexCache::store(const Index& index, std::int64_t newest_change,
                       std::int64_t listed_at) const {
  if (file_.empty() || newest_change > listed_at - kCoarsestTime) return;
  make_private_folders(folder_);
  const std::string hidden = join_path(folder_, fmt::format(".index-{}.tmp", ::getpid()));
  const Fd fd(::open(hidden.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd < 0) return;
  if (!write_all(fd, index.bytes()) || ::rename(hidden.c_str(), file_.c_str()) != 0) {
    ::unlink(hidden.c_str());
  }
}

void append_path(std::string& key, const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  const std::string name = real ? real.get() : path;
  key += fmt::format("{}:{}", name.size(), name);
}

CachedIndex cached_index(const SourceOptions& options, std::string_view key,
                         std::string_view identity, const std::vector<std::string>& roots,
                         std::int64_t changed, const SourceContext& context,
                         const std::function<Index()>& make) {
  const IndexCache cache(options, key);
  if (std::optional<Index> index = cache.load(identity, roots, context))
    return {std::move(*index), true};
  const std::int64_t listed_at = wall_clock();
  Index index = make();
  cache.store(index, std::max(changed, newest_change(index)), listed_at);
  return {std::move(index), false};
}

}  // namespace loaderscope::source
