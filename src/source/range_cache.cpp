#include "source/range_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "source/index_format.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEntry = "range-", kUnfinished = ".range-";
constexpr std::string_view kRangeMagic = "LSRANGE2";
constexpr double kLeft = 0.9;  // of the room, after the longest unused are gone

struct EntryHeader {
  std::array<char, 8> magic{};
  std::uint64_t checksum = 0, key_bytes = 0, version_bytes = 0, data_bytes = 0;
};
constexpr std::uint64_t kLongestVersion = 1024;  // bytes

std::int64_t nanos_of(const timespec& time) {
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// By the clock that files are stamped with.
std::int64_t file_clock_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return nanos_of(now);
}

std::string text_of(const RangeKey& key) {
  return fmt::format("{} {:x} {} {}", key.path, key.stamp, key.begin, key.length);
}

std::uint64_t hash_of(std::string_view text) {
  return checksum_of(std::as_bytes(std::span(text.data(), text.size())));
}

// It becomes a line of a request.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

struct Entry {
  std::string path;
  Bytes size = 0;
  std::int64_t used_at = 0;
};

// A file that is being written is locked by who writes it, and by nobody when that one is dead.
void remove_if_orphan(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
}

std::vector<Entry> entries_of(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  fs::directory_iterator file(folder, error);
  for (; !error && file != fs::directory_iterator(); file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (name.starts_with(kUnfinished)) remove_if_orphan(file->path().string());
    struct stat facts {};
    if (!name.starts_with(kEntry) || ::lstat(file->path().c_str(), &facts) != 0 ||
        !S_ISREG(facts.st_mode))
      continue;
    entries.push_back({file->path().string(), facts.st_size, nanos_of(facts.st_mtim)});
  }
  return entries;
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
std::span<const std::byte> bytes_of(const Object& object) {
  return std::as_bytes(std::span(&object, 1));
}

[[noreturn]] void fail(const std::string& folder, int error) {
  throw RunError(shown_text(folder) +
                 ": cannot be used: " + std::generic_category().message(error) +
                 "; give a folder that can be written to with --cache-dir");
}

}  // namespace

RangeCache::RangeCache(std::string folder, Bytes most_bytes)
    : folder_(std::move(folder)),
      most_(most_bytes),
      begun_at_(file_clock_now()),
      state_(place<State>(shared_)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) fail(folder_, error.value());
  const std::string path = join_path(folder_, "used");
  const Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd < 0 || ::ftruncate(fd, sizeof(Count)) != 0) fail(folder_, errno);
  void* mapped = ::mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) fail(folder_, errno);
  used_ = static_cast<Count*>(mapped);
  tidy(most_);
}

RangeCache::~RangeCache() { ::munmap(static_cast<void*>(used_), sizeof(Count)); }

std::string RangeCache::file_of(std::string_view key_text) const {
  const std::string other = fmt::format("2 {}", key_text);
  return join_path(folder_,
                   fmt::format("{}{:016x}{:016x}", kEntry, hash_of(key_text), hash_of(other)));
}

void RangeCache::count_hit(std::uint64_t hash, Bytes bytes) {
  ++state_->hits;
  state_->bytes_hit += bytes;
  state_->reuse.use(hash, bytes, false);
}

std::optional<RangeCache::Kept> RangeCache::find(const RangeKey& key, const Take& take) {
  const std::string text = text_of(key), path = file_of(text);
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
      header.key_bytes == text.size() && header.version_bytes <= kLongestVersion;
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
  if (!fits || !reads_all(fd, prefix, room) || checksum_of(room) != header.checksum) {
    ++state_->damaged;
    if (::unlink(path.c_str()) == 0) *used_ -= facts.st_size;
    return missed();
  }
  kept.is_proved = key.stamp != 0 || nanos_of(facts.st_mtim) >= begun_at_;
  if (!kept.is_proved) {
    ++state_->misses;
    return kept.version.empty() ? std::nullopt : std::optional(kept);
  }
  ::futimens(fd, nullptr);  // used now; what comes of it does not matter
  count_hit(hash_of(text), std::ssize(room));
  return kept;
}

void RangeCache::prove(const RangeKey& key, Bytes bytes) {
  const std::string text = text_of(key);
  --state_->misses;
  ::utimensat(AT_FDCWD, file_of(text).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  count_hit(hash_of(text), bytes);
}

void RangeCache::give_up(int error) {
  ++state_->not_kept;
  state_->error = error;
}

void RangeCache::keep(const RangeKey& key, std::span<const std::byte> bytes,
                      std::string_view version) {
  if (version.size() > kLongestVersion) version = "";
  static std::atomic<std::uint64_t> number{0};
  const std::string text = text_of(key);
  state_->bytes_missed += std::ssize(bytes);
  state_->reuse.use(hash_of(text), std::ssize(bytes), true);
  EntryHeader header;
  const auto size =
      static_cast<Bytes>(sizeof header + text.size() + version.size()) + std::ssize(bytes);
  if (!make_room(size)) return;
  std::memcpy(header.magic.data(), kRangeMagic.data(), kRangeMagic.size());
  header.checksum = checksum_of(bytes);
  header.key_bytes = text.size();
  header.version_bytes = version.size();
  header.data_bytes = bytes.size();
  const std::string hidden =
      join_path(folder_, fmt::format("{}{}-{}", kUnfinished, ::getpid(), number++));
  const Fd fd(::open(hidden.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd < 0) return give_up(errno);
  ::flock(fd, LOCK_EX | LOCK_NB);
  const std::string path = file_of(text);
  struct stat before {};
  const bool was_there = ::stat(path.c_str(), &before) == 0;
  if (writes_all(fd, bytes_of(header)) && writes_all(fd, std::as_bytes(std::span(text))) &&
      writes_all(fd, std::as_bytes(std::span(version))) && writes_all(fd, bytes) &&
      ::rename(hidden.c_str(), path.c_str()) == 0) {
    *used_ += size - (was_there ? before.st_size : 0);
    return;
  }
  const int error = errno;
  ::unlink(hidden.c_str());
  give_up(error);
}

// Whoever finds another at it goes on without keeping.
bool RangeCache::make_room(Bytes bytes) {
  if (bytes > most_) return false;
  if (*used_ + bytes <= most_) return true;
  return tidy(static_cast<Bytes>(kLeft * static_cast<double>(most_)) - bytes) + bytes <= most_;
}

// Opened anew, so that threads and forked processes lock each other out, too.
Bytes RangeCache::tidy(Bytes most) {
  const std::string path = join_path(folder_, "lock");
  const Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) return most_;
  std::vector<Entry> entries = entries_of(folder_);
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

void RangeCache::add_metrics(std::vector<Metric>& to) const {
  const auto add = [&](const char* name, const char* unit, const char* about, double value) {
    to.push_back({name, unit, about, value});
  };
  const auto count = [](const Count& number) { return static_cast<double>(number.load()); };
  const State& s = *state_;
  add("range_cache.size", "bytes", "room of --cache-dir", static_cast<double>(most_));
  add("range_cache.used", "bytes", "what lies in it, of all jobs", count(*used_));
  add("range_cache.hits", "1", "ranges that were in the folder", count(s.hits));
  add("range_cache.misses", "1", "ranges that had to be fetched", count(s.misses));
  add("range_cache.bytes_hit", "bytes", "read from the folder", count(s.bytes_hit));
  add("range_cache.bytes_fetched", "bytes", "fetched from servers", count(s.bytes_missed));
  add("range_cache.evicted", "1", "ranges that had to go", count(s.evicted));
  add("range_cache.bytes_fetched_again", "bytes", "fetched although this run had it before",
      s.reuse.bytes_brought_again());
  if (const double least = s.reuse.least_size(); least > 0)
    add("range_cache.least_size", "bytes",
        "so large a folder would have had all but 1 % of what was asked for again", least);
}

std::vector<std::string> RangeCache::notes() const {
  std::vector<std::string> notes;
  const State& s = *state_;
  if (const std::int64_t ranges = s.not_kept; ranges > 0)
    notes.push_back(fmt::format("{}: {} could not be kept ({}); they are fetched each time",
                                shown_text(folder_), plural(ranges, "range"),
                                std::generic_category().message(static_cast<int>(s.error))));
  if (const std::int64_t ranges = s.damaged; ranges > 0)
    notes.push_back(fmt::format("{}: {} not as they were written, and removed", shown_text(folder_),
                                ranges == 1 ? "1 range was" : show_count(ranges) + " ranges were"));
  return notes;
}

}  // namespace loaderscope::source
