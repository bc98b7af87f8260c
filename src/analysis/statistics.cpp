#include "analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "base/distribution.h"
#include "base/hash.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxBlocks = 500;  // more would only cost time
// The rule finds blocks whose variance is least in error. Intervals cover better with longer ones.
constexpr double kLonger = 1.5;
constexpr double kMinMemories = 15;  // window length for intervals with the right coverage

class Dice {
 public:
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(((next_bits(state_) >> 32) * static_cast<std::uint64_t>(n)) >>
                                     32);  // n < 2^31
  }

 private:
  std::uint64_t state_ = 20240229;
};

// Calls `visit(begin, end)` for the ranges of one replicate of `n` elements. A block that passes
// the end continues at the beginning. The last block is cut so that n elements are drawn.
template <class Visit>
void draw_blocks(Dice& dice, std::int64_t n, std::int64_t length, const Visit& visit) {
  for (std::int64_t drawn = 0; drawn < n; drawn += length) {
    const std::int64_t size = std::min(length, n - drawn);
    const std::int64_t begin = dice.below(n);
    const std::int64_t end = std::min(begin + size, n);
    visit(begin, end);
    if (begin + size > n) visit(std::int64_t{0}, begin + size - n);
  }
}

double quantile_of_sorted(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

// The medians of `kReplicates` replicates of one half.
std::vector<double> replicate_medians(Dice& dice, std::span<const double> half,
                                      std::int64_t length) {
  std::vector<double> medians, drawn;
  for (int r = 0; r < Bootstrap::kReplicates; ++r) {
    drawn.clear();
    draw_blocks(dice, static_cast<std::int64_t>(half.size()), length,
                [&](std::int64_t begin, std::int64_t end) {
                  drawn.insert(drawn.end(), half.begin() + begin, half.begin() + end);
                });
    medians.push_back(find_median(drawn));
  }
  return medians;
}

}  // namespace

void StepSums::add(const StepSums& other, double sign) {
  time += sign * other.time;
  compute += sign * other.compute;
  samples += sign * other.samples;
  for (std::size_t c = 0; c < kCauses; ++c) stall.at(c) += sign * other.stall.at(c);
}

StepSums step_sums(const StepRow& row) {
  StepSums sums;
  sums.time = static_cast<double>(row.compute_end - row.idle_begin);
  sums.compute = static_cast<double>(row.compute());
  sums.samples = static_cast<double>(row.samples);
  for (std::size_t c = 0; c < kCauses; ++c) sums.stall.at(c) = static_cast<double>(row.stall.at(c));
  return sums;
}

StepSeries::StepSeries(std::int64_t steps)
    : steps_(steps), per_cell_(std::max<std::int64_t>(1, (steps + kMaxCells - 1) / kMaxCells)) {
  cells_.resize(static_cast<std::size_t>((steps + per_cell_ - 1) / per_cell_));
}

void StepSeries::add(std::int64_t index, const StepSums& sums) {
  cells_.at(static_cast<std::size_t>(index / per_cell_)).add(sums);
}

namespace {

// Raises `found` to the dependence of `value`, summed over groups of `group` cells.
template <class Value>
void look_at(Dependence& found, const std::vector<StepSums>& cells, std::int64_t group, double unit,
             const Value& value) {
  std::vector<double> groups(cells.size() / static_cast<std::size_t>(group));
  for (std::size_t i = 0; i < groups.size() * static_cast<std::size_t>(group); ++i)
    groups[i / static_cast<std::size_t>(group)] += value(cells[i]) / unit;
  const Dependence one = measure_dependence(groups);
  found.block = std::max(found.block, one.block);
  found.correlation = std::max(found.correlation, one.correlation);
}

}  // namespace

BlockPlan plan_blocks(std::int64_t cells, std::int64_t cells_per_block) {
  BlockPlan plan;
  plan.wanted = cells_per_block;
  plan.cells = std::max(cells_per_block, cells / kMaxBlocks);
  plan.firm = cells / plan.cells >= kMinBlocks;
  // Two halves show more than a single block, which shows no variation.
  if (cells / plan.cells < 2) plan.cells = cells / 2;
  plan.cells = std::max<std::int64_t>(1, plan.cells);
  plan.blocks = cells / plan.cells;
  return plan;
}

// Groups the cells by bursts, because steps within a burst always depend on each other.
BlockPlan plan_blocks(const StepSeries& series, std::int64_t least_steps) {
  const std::int64_t per_cell = series.steps_per_cell();
  const auto n = std::ssize(series.cells());
  const std::int64_t least = (least_steps + per_cell - 1) / per_cell;
  const std::int64_t burst = std::max<std::int64_t>(1, least / 2);
  StepSums total;
  for (const StepSums& cell : series.cells()) total.add(cell);
  Dependence found;
  if (total.time > 0) {
    const double unit = total.time / static_cast<double>(n) * static_cast<double>(burst);
    const double busy = total.compute / total.time;
    look_at(found, series.cells(), burst, unit, [](const StepSums& sums) { return sums.time; });
    look_at(found, series.cells(), burst, unit,
            [busy](const StepSums& sums) { return sums.compute - busy * sums.time; });
  }
  const auto bursts = static_cast<std::int64_t>(std::ceil(kLonger * found.block));
  BlockPlan plan = plan_blocks(n, std::max(least, found.block > 1 ? bursts * burst : least));
  plan.firm = plan.firm &&
              static_cast<double>(n) >= kMinMemories * found.memory() * static_cast<double>(burst);
  plan.unseen = found.unseen_by_blocks(std::max<std::int64_t>(1, plan.cells / burst));
  return plan;
}

Bootstrap::Bootstrap(const StepSeries& series, std::int64_t least_block_steps)
    : plan_(plan_blocks(series, least_block_steps)) {
  const auto n = static_cast<std::int64_t>(series.cells().size());

  std::vector<StepSums> before(1);  // prefix sums: entry i is the sum of the cells before i
  for (const StepSums& cell : series.cells()) {
    before.push_back(before.back());
    before.back().add(cell);
  }
  total_ = before.back();
  Dice dice;
  replicates_.resize(kReplicates);
  for (StepSums& replicate : replicates_) {
    draw_blocks(dice, n, plan_.cells, [&](std::int64_t begin, std::int64_t end) {
      replicate.add(before[static_cast<std::size_t>(end)]);
      replicate.add(before[static_cast<std::size_t>(begin)], -1);
    });
  }
}

Estimate Bootstrap::estimate(const Statistic& statistic, double level) const {
  std::vector<double> values;
  values.reserve(replicates_.size());
  for (const StepSums& replicate : replicates_) values.push_back(statistic(replicate));
  return percentile_interval(statistic(total_), std::move(values), level, plan_.blocks,
                             plan_.unseen);
}

Estimate percentile_interval(double point, std::vector<double> replicates, double level,
                             std::int64_t blocks, double unseen) {
  Estimate estimate{point, point, point};
  if (replicates.empty() || blocks < 2) return estimate;
  std::sort(replicates.begin(), replicates.end());
  const double tail = (1 - level) / 2;
  // Percentiles of b blocks are too narrow by what Student's t is wider than the normal law and by
  // the bias of the variance of b values (Hesterberg 2014, "expanded percentile interval").
  const auto b = static_cast<double>(blocks);
  const double widen = unseen * std::sqrt(b / (b - 1)) * student_quantile(1 - tail, blocks - 1) /
                       inverse_normal(1 - tail);
  const double below = point - quantile_of_sorted(replicates, tail);
  const double above = quantile_of_sorted(replicates, 1 - tail) - point;
  estimate.low = point - widen * std::max(0.0, below);
  estimate.high = point + widen * std::max(0.0, above);
  return estimate;
}

namespace {

// The interval of so few blocks is too wide for any change to lie beyond it.
constexpr std::int64_t kFewBlocks = 5;
constexpr double kApart = 1.5;  // times

bool is_apart(double a, double b) { return std::max(a, b) >= kApart * std::min(a, b); }

double mean_value(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Length of the blocks of a half, so that it has at least five of them. A trend is no dependence:
// the line through the half is subtracted first.
std::int64_t block_of_half(std::span<const double> half) {
  const auto n = static_cast<double>(half.size());
  const double mean = mean_value(half), middle = (n - 1) / 2;
  if (!(mean > 0)) return 1;
  double product = 0, squares = 0;
  for (std::size_t i = 0; i < half.size(); ++i) {
    const double at = static_cast<double>(i) - middle;
    product += at * (half[i] - mean);
    squares += at * at;
  }
  const double slope = squares > 0 ? product / squares : 0;
  std::vector<double> rest;
  for (std::size_t i = 0; i < half.size(); ++i)
    rest.push_back((half[i] - mean - slope * (static_cast<double>(i) - middle)) / mean);
  const auto block = static_cast<std::int64_t>(std::ceil(measure_dependence(rest).block));
  return std::min(block, std::max<std::int64_t>(1, std::ssize(half) / kFewBlocks));
}

}  // namespace

bool keeps_level(const std::vector<double>& stretches, std::int64_t block, double level) {
  const std::size_t half = stretches.size() / 2;
  if (half == 0) return true;
  const std::span<const double> first(stretches.data(), half);
  const std::span<const double> second(stretches.data() + stretches.size() - half, half);
  const double median_a = find_median({first.begin(), first.end()});
  const double median_b = find_median({second.begin(), second.end()});
  if (std::abs(median_b - median_a) < 0.1 * (median_a + median_b) / 2) return true;

  const std::int64_t seen = std::max(block_of_half(first), block_of_half(second));
  const BlockPlan plan = plan_blocks(static_cast<std::int64_t>(half), std::max(block, seen));
  if (plan.blocks < kFewBlocks && is_apart(median_a, median_b) &&
      is_apart(mean_value(first), mean_value(second)))
    return false;
  Dice dice;
  const std::vector<double> medians_a = replicate_medians(dice, first, plan.cells);
  std::vector<double> differences = replicate_medians(dice, second, plan.cells);
  for (std::size_t r = 0; r < differences.size(); ++r) differences[r] -= medians_a[r];
  const Estimate change =
      percentile_interval(median_b - median_a, std::move(differences), level, plan.blocks);
  return change.low <= 0 && change.high >= 0;
}

}  // namespace loaderscope
