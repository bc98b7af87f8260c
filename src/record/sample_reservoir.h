// A uniform random choice of whole samples from a stream of unknown length (Li's algorithm L: it
// draws the number of samples to skip, so that a skipped sample costs one comparison).
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

class SampleReservoir {
 public:
  SampleReservoir(std::int64_t capacity, std::uint64_t seed);

  // Counts one sample. Returns true if it must be kept; `keep` must follow then.
  bool wants_next() { return seen_++ >= next_kept_; }
  void keep(const SampleRow& row);

  void restart();  // forgets all samples

  std::int64_t seen() const { return seen_; }
  std::vector<SampleRow> take() { return std::move(rows_); }

 private:
  void draw_skip();
  double uniform();

  std::size_t capacity_;
  std::mt19937_64 random_;
  std::vector<SampleRow> rows_;
  std::int64_t seen_ = 0;
  std::int64_t next_kept_ = 0;  // samples before this one are skipped
  double weight_ = 1;
};

}  // namespace loaderscope
