// What servers sent, kept in a folder: shared by the ranks and workers of a job, and by jobs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/placed.h"
#include "base/shared_memory.h"
#include "loaderscope/run_record.h"
#include "source/reuse_distances.h"

namespace loaderscope::source {

// Which bytes: of an object as it was known when the data set was opened (`stamp` 0: by its path).
struct RangeKey {
  std::string_view path;
  std::uint64_t stamp = 0;
  Bytes begin = 0, length = 0;
};

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

  // `take` gives the room for so many bytes. False: it is not there, or not as it was written.
  using Take = std::function<std::span<std::byte>(std::size_t)>;
  bool find(const RangeKey& key, const Take& take);
  // Best effort: a full disk, or one that cannot be written to, is a note.
  void keep(const RangeKey& key, std::span<const std::byte> bytes);

  void add_metrics(std::vector<Metric>& to) const;
  std::vector<std::string> notes() const;

 private:
  using Count = std::atomic<std::int64_t>;
  struct State {
    Count hits{0}, misses{0}, bytes_hit{0}, bytes_missed{0}, evicted{0}, bytes_evicted{0},
        damaged{0}, not_kept{0}, error{0};
    ReuseDistances reuse;
  };
  std::string file_of(std::string_view key_text) const;
  bool make_room(Bytes bytes);
  // Returns what lies in the folder then; as much as may, where another is at it.
  Bytes tidy(Bytes most);
  void give_up(int error);

  std::string folder_;
  Bytes most_;
  SharedMemory shared_;
  Placed<State> state_;
  Count* used_;  // bytes in the folder, by all jobs; a mapped file
};
}  // namespace loaderscope::source
