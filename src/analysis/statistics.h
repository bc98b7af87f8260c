// Intervals by block bootstrap. Steps are not independent: batch tasks of W workers arrive in
// bursts of W, and a slow disk or another program slows down many steps in a row. The bootstrap
// draws whole blocks of neighbouring steps, the same from all ranks. The series determines their
// length.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/dependence.h"
#include "base/quantiles.h"
#include "loaderscope/analysis.h"

namespace loaderscope {

// Sums over steps and ranks. All ns are integers in a double: exact up to 104 days.
struct StepSums {
  double time = 0;  // idle + compute
  double compute = 0;
  double samples = 0;
  PerCause<double> stall{};

  void add(const StepSums& other, double sign = 1);
};
StepSums step_sums(const StepRow& row);

// The steps of a window in order, added up in cells: a million steps cost no more than 8192.
class StepSeries {
 public:
  static constexpr std::int64_t kMaxCells = 8192;

  explicit StepSeries(std::int64_t steps);
  // Adds to step `index` of the window, 0 <= index < steps; ranks add to the same index.
  void add(std::int64_t index, const StepSums& sums);

  std::int64_t steps() const { return steps_; }
  std::int64_t steps_per_cell() const { return per_cell_; }
  const std::vector<StepSums>& cells() const { return cells_; }

 private:
  std::int64_t steps_;
  std::int64_t per_cell_;
  std::vector<StepSums> cells_;
};

// Fewer blocks could agree by chance, and their interval would look firm.
inline constexpr std::int64_t kMinBlocks = 3;

// Division of a series into blocks.
struct BlockPlan {
  std::int64_t cells = 1;   // per block
  std::int64_t blocks = 1;  // number that fits
  bool firm = false;        // true with kMinBlocks of the wanted length
  double unseen = 1;        // factor by which the mean varies more than blocks show
  std::int64_t wanted = 1;  // wanted cells per block
};
BlockPlan plan_blocks(std::int64_t cells, std::int64_t cells_per_block);
// Plans blocks of at least `least_steps` (two bursts), and as long as the step and compute times
// depend on earlier ones. The plan is not firm if the window is too short for that.
BlockPlan plan_blocks(const StepSeries& series, std::int64_t least_steps);

// Replicates of a series: each is the sum over randomly drawn circular blocks. The same series
// gives the same replicates on every machine.
class Bootstrap {
 public:
  static constexpr int kReplicates = 1000;

  // See plan_blocks().
  Bootstrap(const StepSeries& series, std::int64_t least_block_steps);

  using Statistic = std::function<double(const StepSums&)>;
  // Returns the statistic of the whole series with its percentile interval, widened for few blocks
  // as Student's t is.
  Estimate estimate(const Statistic& statistic, double level = 0.95) const;
  const BlockPlan& plan() const { return plan_; }

 private:
  StepSums total_;
  BlockPlan plan_;
  std::vector<StepSums> replicates_;
};

// Returns true if a series of equally long time ranges keeps its level. The medians of its halves
// may differ by 10 %, or by the interval of `level` of their difference. Few blocks have no useful
// interval; then a factor of 1.5 between the medians and between the means is too large. `block` is
// the minimum number of time ranges that belong together.
bool keeps_level(const std::vector<double>& stretches, std::int64_t block, double level = 0.99);

// Returns the interval of `level` from replicates of a statistic whose value is `point`, for
// `blocks` blocks, widened by the factor `unseen`.
Estimate percentile_interval(double point, std::vector<double> replicates, double level,
                             std::int64_t blocks, double unseen = 1);

}  // namespace loaderscope
