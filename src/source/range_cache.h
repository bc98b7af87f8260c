// Cache of server responses in a folder, shared by the ranks and workers of a job, and by jobs.
#pragma once

#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_memory.h"
#include "loaderscope/run_record.h"
#include "loaderscope/units.h"

namespace loaderscope::source {

// Estimate of the required cache size, from the bytes of other ranges between two uses of one
// range. It samples ranges with small hashes. At most a few thousand are tracked for any size of
// the data. Lives in memory that processes share. Call from any of their threads. A use is not
// counted if the lock is taken.
class ReuseDistances {
 public:
  // Counts a use. `brought`: the range had to be fetched.
  void use(std::uint64_t hash, Bytes size, bool brought);

  double repeats() const { return repeats_.load(); }  // uses of ranges that were used before
  double bytes_brought_again() const { return brought_again_.load(); }
  double bytes_known() const;  // bytes of all distinct ranges so far
  // Size of a cache that would have had 99 % of the repeats; 0: no repeats.
  double least_size() const;

 private:
  struct Piece {
    std::uint64_t hash, last_use;
    Bytes size;
  };
  static constexpr std::size_t kMax = 4096;
  static constexpr int kPerDoubling = 4;

  bool lock();
  void unlock() { locked_.store(false, std::memory_order_release); }
  double each_stands_for() const;
  double distance(const Piece& piece) const;
  void count(double distance);
  void halve();

  std::atomic<bool> locked_{false};
  std::uint64_t below_ = ~std::uint64_t{0};  // limit of tracked hashes
  std::uint64_t uses_ = 0;
  std::size_t size_ = 0;
  std::array<Piece, kMax> pieces_{};
  std::array<double, 64 * kPerDoubling> histogram_{};  // histogram of distances, in uses
  std::atomic<double> repeats_{0}, brought_again_{0};
};

// Key of a byte range of an object. `stamp` is the object's version when the data set was opened.
// 0: the version was not read, and cached bytes are proved once per run.
struct RangeKey {
  std::string_view path;
  std::uint64_t stamp = 0;
  Bytes begin = 0, length = 0;
};

inline std::int64_t range_clock(const timespec& time) {  // ns
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// Stores each range in a file. A file is written under another name with a checksum, and then
// renamed, so incomplete files of a killed job are ignored. The longest unused files are removed
// first. Call from any thread, and from any process forked from this one.
class RangeCache {
 public:
  // Throws RunError if the folder cannot be used.
  RangeCache(std::string folder, Bytes most_bytes);
  ~RangeCache();
  RangeCache(const RangeCache&) = delete;
  RangeCache& operator=(const RangeCache&) = delete;

  struct Kept {
    // True if the stamp matches, or if the range was fetched or proved since the run began.
    // Otherwise the caller must ask the server whether the object still has `version`.
    bool is_proved = true;
    std::string version;  // version passed to `keep`; "": unknown
  };
  // Reads a range. `take` allocates the given number of bytes. Returns nothing if the range is
  // missing or damaged.
  using Take = std::function<std::span<std::byte>(std::size_t)>;
  std::optional<Kept> find(const RangeKey& key, const Take& take);
  // Marks a found range as proved: the server's object is unchanged.
  void prove(const RangeKey& key, Bytes bytes);
  // Stores a range and ignores failures. A full or read-only disk becomes a note.
  void keep(const RangeKey& key, std::span<const std::byte> bytes, std::string_view version = "");

  void add_metrics(std::vector<Metric>& to) const;
  std::vector<std::string> notes() const;

 private:
  using Count = std::atomic<std::int64_t>;
  static constexpr std::string_view kEntry = "range-", kUnfinished = ".range-";  // names of files
  struct Entry {
    std::string path;
    Bytes size = 0;
    std::int64_t used_at = 0;
  };
  struct State {
    Count hits{0}, misses{0}, bytes_hit{0}, bytes_missed{0}, evicted{0}, bytes_evicted{0},
        damaged{0}, not_kept{0}, error{0};
    ReuseDistances reuse;
  };
  std::string file_path(std::string_view key_text) const;
  std::vector<Entry> files() const;
  bool make_room(Bytes bytes);
  // Removes files down to `most` bytes. Returns the bytes in the folder, or `most` if another
  // process is tidying.
  Bytes tidy(Bytes most);
  void give_up(int error);
  void count_hit(std::uint64_t hash, Bytes bytes);

  std::string folder_;
  Bytes most_;
  std::int64_t begun_at_;  // ns of the clock of files
  SharedMemory shared_;
  ArenaPtr<State> state_;
  Count* used_;  // bytes in the folder by all jobs; a mapped file
};

}  // namespace loaderscope::source
