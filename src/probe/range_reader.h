// Parts of files, read as a loader would, and what of them the page cache has. Reads by several
// threads at once, timed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loaderscope/units.h"
#include "probe/probed_data.h"

namespace loaderscope::probe {

enum class ReadMode : std::uint8_t { direct, cold, reading_on };

// Belongs to one thread. A file stays open while consecutive pieces are in it.
class RangeReader {
 public:
  explicit RangeReader(ReadMode way) : way_(way) {}
  // Returns the number of bytes. Throws RunError.
  Bytes read(const FileRange& piece);

 private:
  void open(const std::string& path);
  std::byte* room_for(std::size_t bytes);

  ReadMode way_;
  std::string path_;
  Fd file_;
  std::unique_ptr<std::byte, decltype(&std::free)> room_{nullptr, &std::free};
  std::size_t size_ = 0;
};

std::string why_not_direct(const FileRange& piece);  // "": it can be read past the page cache

// Lets the page cache forget them; whether it is proved that it has.
bool forget(const std::vector<FileRange>& pieces);

void open_and_close(const std::string& path);  // throws RunError

// Reads one thing; how many bytes, or below 0 when there is none left.
using ReadOne = std::function<double()>;

struct Speed {
  double bytes_per_s = 0, noise = 0, per_read = 0;  // seconds of one read, with what waits
  double reads = 0;
};

struct Done {
  double bytes = 0, reads = 0, thread_s = 0;
  Nanos begin = 0, end = 0;
};

// Reads with `threads` threads at once until nothing is left or for `time`. `make` makes the reader
// of each thread.
Done read_by(int threads, const std::function<ReadOne()>& make, Nanos time,
             const std::atomic<int>& stop);

// Computes the median of several rounds.
class Speeds {
 public:
  void add(const Done& done);
  std::optional<Speed> speed();

 private:
  std::vector<double> rates_;
  double reads_ = 0, thread_s_ = 0;
};

}  // namespace loaderscope::probe
