// Durations, counted.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope {

// Counts of durations in logarithmic buckets, each with its sum: percentiles are off by less than
// 0.8 %, and exact where all values of a bucket are equal.
class Histogram {
 public:
  void add(Nanos value, std::int64_t times = 1);
  void expect(Nanos value) const;  // is about to be added: fetches its bucket ahead
  void merge(const Histogram& other);
  std::int64_t count() const { return count_; }
  Nanos quantile(double q) const;  // 0 when empty
  Nanos max() const { return max_; }

  struct Bucket {
    std::int32_t index;
    std::int64_t count;
    Nanos sum;

    bool operator==(const Bucket&) const = default;
  };
  std::vector<Bucket> buckets() const;  // the non-empty ones, ascending
  static Histogram from_buckets(const std::vector<Bucket>& buckets, Nanos max);

 private:
  using Cell = std::pair<std::int64_t, Nanos>;  // count, sum
  Cell& cell_of(std::int64_t bucket);

  // Of the buckets from `first_` on, the lowest that was ever used: a job has a histogram for each
  // stage of each of its ranks, and nothing of it takes nanoseconds.
  std::vector<Cell> cells_;
  std::int64_t first_ = 0;
  std::int64_t count_ = 0;
  Nanos max_ = 0;
};

}  // namespace loaderscope
