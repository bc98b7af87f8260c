#include "source/range_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/fd.h"
#include "base/hash.h"
#include "base/private_folder.h"
#include "loaderscope/errors.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRangeMagic = "LSRANGE2";

struct EntryHeader {
  std::array<char, 8> magic{};
  std::uint64_t checksum = 0, key_bytes = 0, version_bytes = 0, data_bytes = 0;
};
constexpr std::uint64_t kMaxVersion = 1024;  // bytes

// Returns the time of the clock that stamps files.
std::int64_t file_clock_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return range_clock(now);
}

std::string format_key(const RangeKey& key) {
  return fmt::format("{} {:x} {} {}", key.path, key.stamp, key.begin, key.length);
}

// Returns true if the text is safe in a header line of a request.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool reads_all(int fd, Bytes at, std::span<std::byte> to) {
  const ReadAt got = read_at(fd, at, to);
  return got.error == 0 && got.bytes == to.size();
}

bool writes_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

template <class Object>
std::span<const std::byte> object_bytes(const Object& object) {
  return std::as_bytes(std::span(&object, 1));
}

[[noreturn]] void fail(const std::string& folder, int error) {
  throw RunError(
      shown_text(folder) + ": cannot be used (" + std::generic_category().message(error) + ")",
      "give a folder that can be written to with --cache-dir");
}

}  // namespace

RangeCache::RangeCache(std::string folder, Bytes most_bytes)
    : folder_(std::move(folder)),
      most_(most_bytes),
      begun_at_(file_clock_now()),
      state_(place<State>(shared_)) {
  if (const int error = make_private_folders(folder_)) fail(folder_, error);
  const std::string path = join_path(folder_, "used");
  const Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd < 0) fail(folder_, errno);
  // Allocates the block now: on a full disk, the first store would end the process.
  if (const int refused = ::posix_fallocate(fd, 0, sizeof(Count)); refused != 0)
    fail(folder_, refused);
  void* mapped = ::mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) fail(folder_, errno);
  used_ = static_cast<Count*>(mapped);
  tidy(most_);
}

RangeCache::~RangeCache() { ::munmap(static_cast<void*>(used_), sizeof(Count)); }

std::string RangeCache::file_path(std::string_view key_text) const {
  const std::string other = fmt::format("2 {}", key_text);
  return join_path(folder_,
                   fmt::format("{}{:016x}{:016x}", kEntry, hash_text(key_text), hash_text(other)));
}

void RangeCache::count_hit(std::uint64_t hash, Bytes bytes) {
  ++state_->hits;
  state_->bytes_hit += bytes;
  state_->reuse.use(hash, bytes, false);
}

std::optional<RangeCache::Kept> RangeCache::find(const RangeKey& key, const Take& take) {
  const std::string text = format_key(key), path = file_path(text);
  const auto missed = [&] {
    ++state_->misses;
    return std::nullopt;
  };
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts {};
  if (fd < 0 || ::fstat(fd, &facts) != 0 || facts.st_uid != ::geteuid()) return missed();
  EntryHeader header;
  std::string its_text(text.size(), '\0');
  Kept kept;
  const bool begins_well =
      reads_all(fd, 0, std::as_writable_bytes(std::span(&header, 1))) &&
      std::string_view(header.magic.data(), header.magic.size()) == kRangeMagic &&
      header.key_bytes == text.size() && header.version_bytes <= kMaxVersion;
  if (begins_well) kept.version.resize(header.version_bytes);
  const auto prefix = static_cast<Bytes>(sizeof header + text.size() + kept.version.size());
  const bool fits =
      begins_well && facts.st_size == prefix + static_cast<Bytes>(header.data_bytes) &&
      (key.length < 0 || header.data_bytes == static_cast<std::uint64_t>(key.length)) &&
      reads_all(fd, sizeof header, std::as_writable_bytes(std::span(its_text))) &&
      its_text == text &&
      reads_all(fd, static_cast<Bytes>(sizeof header + text.size()),
                std::as_writable_bytes(std::span(kept.version))) &&
      is_plain(kept.version);
  const std::span<std::byte> room = fits ? take(header.data_bytes) : std::span<std::byte>();
  if (!fits || !reads_all(fd, prefix, room) || hash_bytes(room) != header.checksum) {
    ++state_->damaged;
    if (::unlink(path.c_str()) == 0) *used_ -= facts.st_size;
    return missed();
  }
  kept.is_proved = key.stamp != 0 || range_clock(facts.st_mtim) >= begun_at_;
  if (!kept.is_proved) {
    ++state_->misses;
    return kept.version.empty() ? std::nullopt : std::optional(kept);
  }
  ::futimens(fd, nullptr);  // used now; what comes of it does not matter
  count_hit(hash_text(text), std::ssize(room));
  return kept;
}

void RangeCache::prove(const RangeKey& key, Bytes bytes) {
  const std::string text = format_key(key);
  --state_->misses;
  ::utimensat(AT_FDCWD, file_path(text).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  count_hit(hash_text(text), bytes);
}

void RangeCache::give_up(int error) {
  ++state_->not_kept;
  state_->error = error;
}

void RangeCache::keep(const RangeKey& key, std::span<const std::byte> bytes,
                      std::string_view version) {
  if (version.size() > kMaxVersion) version = "";
  static std::atomic<std::uint64_t> number{0};
  const std::string text = format_key(key);
  state_->bytes_missed += std::ssize(bytes);
  state_->reuse.use(hash_text(text), std::ssize(bytes), true);
  EntryHeader header;
  const auto size =
      static_cast<Bytes>(sizeof header + text.size() + version.size()) + std::ssize(bytes);
  if (!make_room(size)) return;
  std::memcpy(header.magic.data(), kRangeMagic.data(), kRangeMagic.size());
  header.checksum = hash_bytes(bytes);
  header.key_bytes = text.size();
  header.version_bytes = version.size();
  header.data_bytes = bytes.size();
  const std::string hidden =
      join_path(folder_, fmt::format("{}{}-{}", kUnfinished, ::getpid(), number++));
  const Fd fd(::open(hidden.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd < 0) return give_up(errno);
  ::flock(fd, LOCK_EX | LOCK_NB);
  const std::string path = file_path(text);
  struct stat before {};
  const bool was_there = ::stat(path.c_str(), &before) == 0;
  if (writes_all(fd, object_bytes(header)) && writes_all(fd, std::as_bytes(std::span(text))) &&
      writes_all(fd, std::as_bytes(std::span(version))) && writes_all(fd, bytes) &&
      ::rename(hidden.c_str(), path.c_str()) == 0) {
    *used_ += size - (was_there ? before.st_size : 0);
    return;
  }
  const int error = errno;
  ::unlink(hidden.c_str());
  give_up(error);
}

// Contents of the range cache's folder, and the removal of files.

namespace {

constexpr double kLeft = 0.9;  // share of the limit that remains after a removal

// Removes a file whose writer has died. A live writer holds a lock on the file.
void remove_if_orphan(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
}

}  // namespace

std::vector<RangeCache::Entry> RangeCache::files() const {
  std::vector<Entry> entries;
  std::error_code error;
  fs::directory_iterator file(folder_, error);
  for (; !error && file != fs::directory_iterator(); file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (name.starts_with(kUnfinished)) remove_if_orphan(file->path().string());
    struct stat facts {};
    if (!name.starts_with(kEntry) || ::lstat(file->path().c_str(), &facts) != 0 ||
        !S_ISREG(facts.st_mode))
      continue;
    entries.push_back({file->path().string(), facts.st_size, range_clock(facts.st_mtim)});
  }
  return entries;
}

// A process that finds another one tidying does not keep the range.
bool RangeCache::make_room(Bytes bytes) {
  if (bytes > most_) return false;
  if (*used_ + bytes <= most_) return true;
  return tidy(static_cast<Bytes>(kLeft * static_cast<double>(most_)) - bytes) + bytes <= most_;
}

// Opens the lock file again, so that it also excludes threads and forked processes.
Bytes RangeCache::tidy(Bytes most) {
  const std::string path = join_path(folder_, "lock");
  const Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) return most_;
  std::vector<Entry> entries = files();
  Bytes total = 0;
  for (const Entry& entry : entries) total += entry.size;
  if (total > most) {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.used_at < b.used_at; });
  }
  for (const Entry& entry : entries) {
    if (total <= most) break;
    if (::unlink(entry.path.c_str()) != 0) continue;
    total -= entry.size;
    ++state_->evicted;
    state_->bytes_evicted += entry.size;
  }
  used_->store(total);
  return total;
}

}  // namespace loaderscope::source
