// Steps as a record keeps them: a row of each step, and durations in histograms.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "loaderscope/events.h"

namespace loaderscope {

// Counts of durations in logarithmic buckets, each with its sum: percentiles are off by less than
// 0.8 %, and exact where all values of a bucket are equal.
class Histogram {
 public:
  void add(Nanos value, std::int64_t times = 1);
  void expect(Nanos value) const;  // fetches the bucket of a value that will be added soon
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
  Cell& bucket_cell(std::int64_t bucket);

  // The buckets from `first_` on, which is the lowest that was ever used. A job has a histogram for
  // each stage of each rank, and no stage takes nanoseconds, so the lowest buckets are left out.
  std::vector<Cell> cells_;
  std::int64_t first_ = 0;
  std::int64_t count_ = 0;
  Nanos max_ = 0;
};

// Time of the device on batches of a loader. Parts of the stall, except `shared`.
struct DeviceProduction {
  Nanos decode = 0;     // part of stall[decode]
  Nanos augment = 0;    // part of stall[augment]
  Nanos lane_wait = 0;  // no task of the batch ran, although the device thread had the batch
  Nanos shared = 0;     // decode and augment ran during a compute of the rank

  Nanos stall() const { return decode + augment; }
  bool operator==(const DeviceProduction&) const = default;
};

// One step, folded. Times are those of the step's events; the booked ns are those of the GPU's idle
// time between the compute of the step before and this one.
struct StepRow {
  std::int64_t step = 0;
  std::int32_t epoch = 0;
  std::int32_t worker = 0;
  std::int32_t samples = 0;
  bool warmup = false;
  bool first_of_epoch = false;
  Nanos ask = 0, deliverable = 0, take = 0;
  Nanos copy_begin = 0, copy_end = 0;
  Nanos idle_begin = 0;  // end of the compute before, or the first ask
  Nanos compute_begin = 0, compute_end = 0;
  PerCause<Nanos> stall{};
  Nanos not_asking = 0;  // part of launch: the batch was deliverable and the trainer had not asked
  Nanos waiting_for_ranks = 0;  // part of all causes: this rank was ready and waited for the
                                // slowest
  PerWhy<Nanos> why{};
  Nanos order = 0;    // a later batch was deliverable while this one was waited for
  Nanos clamped = 0;  // moved to bring the step's times into order
  DeviceProduction device;
  Nanos made_end = 0;  // the device ended its work on the batch, later than the trainer; else 0

  Nanos idle() const { return compute_begin - idle_begin; }
  Nanos compute() const { return compute_end - compute_begin; }
  bool operator==(const StepRow&) const = default;
};
static_assert(sizeof(StepRow) <= 296 && std::is_trivially_copyable_v<StepRow>);

// Step rows in memory up to a limit, beyond it in an unlinked temporary file.
class StepRows {
 public:
  static constexpr Bytes kDefaultMemory = Bytes{64} << 20;

  explicit StepRows(Bytes memory_limit = kDefaultMemory);
  ~StepRows();
  StepRows(StepRows&&) noexcept;
  StepRows& operator=(StepRows&&) noexcept;

  void push_back(const StepRow& row);  // throws RunError when the spill file cannot be written
  std::int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Bytes spilled_bytes() const;
  // Calls `visit` with each row from `first` on, in order.
  void for_each(const std::function<void(const StepRow&)>& visit, std::int64_t first = 0) const;
  StepRow back() const;
  // Reads the rows from `first`, as many as the vector has. Requires that all of them exist.
  void read(std::int64_t first, std::vector<StepRow>& rows) const;
  void write(std::int64_t first, const std::vector<StepRow>& rows);  // replaces the rows from
                                                                     // `first`

 private:
  struct Spill;
  std::int64_t spilled() const;
  Bytes memory_limit_;
  std::int64_t size_ = 0;
  std::vector<StepRow> tail_;  // the rows after those spilled
  std::unique_ptr<Spill> spill_;
};

}  // namespace loaderscope
