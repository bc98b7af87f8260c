// What servers sent, kept in a folder: shared by the ranks and workers of a job, and by jobs.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena_ptr.h"
#include "base/shared_memory.h"
#include "loaderscope/run_record.h"
#include "source/reuse_distances.h"

namespace loaderscope::source {

// Which bytes: of an object as it was known when the data set was opened (`stamp` 0: it was not
// looked at then, and what is kept of it is proved once per run).
struct RangeKey {
  std::string_view path;
  std::uint64_t stamp = 0;
  Bytes begin = 0, length = 0;
};

inline std::int64_t range_clock(const timespec& time) {  // ns
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// A file for each range: written under another name, then renamed, with a checksum, so that what a
// killed job left is taken for nothing. The longest unused go first. From any thread, and any
// process that is forked from this one.
class RangeCache {
 public:
  // Throws RunError where the folder cannot be used.
  RangeCache(std::string folder, Bytes most_bytes);
  ~RangeCache();
  RangeCache(const RangeCache&) = delete;
  RangeCache& operator=(const RangeCache&) = delete;

  struct Kept {
    // Known by its stamp, or fetched or proved since the run began. Else it is to be proved by
    // asking its server whether the object is another one than `version`.
    bool is_proved = true;
    std::string version;  // as `keep` was told; "": not known
  };
  // `take` gives the room for so many bytes. Nothing: it is not there, or not as it was written.
  using Take = std::function<std::span<std::byte>(std::size_t)>;
  std::optional<Kept> find(const RangeKey& key, const Take& take);
  // What was found and was to be proved: it is the same.
  void prove(const RangeKey& key, Bytes bytes);
  // Best effort: a full disk, or one that cannot be written to, is a note.
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
  std::string file_of(std::string_view key_text) const;
  std::vector<Entry> files() const;
  bool make_room(Bytes bytes);
  // Returns what lies in the folder then; as much as may, where another is at it.
  Bytes tidy(Bytes most);
  void give_up(int error);
  void count_hit(std::uint64_t hash, Bytes bytes);

  std::string folder_;
  Bytes most_;
  std::int64_t begun_at_;  // ns of the clock of files
  SharedMemory shared_;
  ArenaPtr<State> state_;
  Count* used_;  // bytes in the folder, by all jobs; a mapped file
};

}  // namespace loaderscope::source
