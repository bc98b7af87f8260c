// Steps as a result keeps them.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "loaderscope/events.h"

namespace loaderscope {

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
  Nanos not_asking = 0;  // of launch: the batch was deliverable and the trainer had not asked
  Nanos waiting_for_ranks = 0;  // of all causes: this rank was ready and waited for the slowest
  PerWhy<Nanos> why{};
  Nanos order = 0;    // a later batch was deliverable while this one was waited for
  Nanos clamped = 0;  // moved to bring the step's times into order

  Nanos idle() const { return compute_begin - idle_begin; }
  Nanos compute() const { return compute_end - compute_begin; }
  bool operator==(const StepRow&) const = default;
};
static_assert(sizeof(StepRow) <= 256 && std::is_trivially_copyable_v<StepRow>);

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
  // Those from `first` on, as many as the vector has; all of them are there.
  void read(std::int64_t first, std::vector<StepRow>& rows) const;
  void write(std::int64_t first, const std::vector<StepRow>& rows);  // in place of those

 private:
  struct Spill;
  std::int64_t spilled() const;
  Bytes memory_limit_;
  std::int64_t size_ = 0;
  std::vector<StepRow> tail_;  // the rows after those spilled
  std::unique_ptr<Spill> spill_;
};

}  // namespace loaderscope
