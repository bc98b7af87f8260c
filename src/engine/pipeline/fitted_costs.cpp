#include "engine/pipeline/fitted_costs.h"

#include <algorithm>
#include <cmath>

namespace loaderscope {
namespace {

std::size_t place_of(Stage stage) {
  return static_cast<std::size_t>(std::find(kSampleStages.begin(), kSampleStages.end(), stage) -
                                  kSampleStages.begin());
}

Nanos scaled(Nanos ns, double factor) {
  const double value = static_cast<double>(ns) * factor;
  return std::llround(std::min(value, static_cast<double>(kLongestCost)));
}

Nanos rounded(double ns) {
  return std::llround(std::clamp(ns, 0.0, static_cast<double>(kLongestCost)));
}

// Of samples that are some.
FittedCosts::Sample mean_of(const std::vector<FittedCosts::Sample>& samples) {
  const auto mean = [&](const auto& part) {
    double sum = 0;
    for (const FittedCosts::Sample& sample : samples) sum += static_cast<double>(part(sample));
    return std::llround(sum / static_cast<double>(samples.size()));
  };
  FittedCosts::Sample result;
  result.bytes = mean([](const FittedCosts::Sample& s) { return s.bytes; });
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const auto of_stage = [&](Nanos StageTime::*time) {
      return mean([&](const FittedCosts::Sample& s) { return s.stages.at(i).*time; });
    };
    result.stages.at(i) = {of_stage(&StageTime::waits), of_stage(&StageTime::transfers),
                           of_stage(&StageTime::cpu)};
  }
  return result;
}

}  // namespace

MeasuredTimes::MeasuredTimes(const StageStats& stats) {
  for (const Histogram::Bucket& bucket : stats.wall_histogram.buckets()) {
    count_ += bucket.count;
    steps_.push_back({count_, static_cast<double>(bucket.sum) / static_cast<double>(bucket.count)});
  }
  if (stats.wall > 0) {
    cpu_share_ = static_cast<double>(stats.cpu) / static_cast<double>(stats.wall);
    wait_share_ = static_cast<double>(stats.blocked()) / static_cast<double>(stats.wall);
  }
  if (count_ > 0) bytes_ = static_cast<double>(stats.bytes) / static_cast<double>(count_);
}

StageTime MeasuredTimes::draw(double u, Bytes bytes) const {
  if (count_ == 0) return {};
  const auto rank = static_cast<std::int64_t>(u * static_cast<double>(count_));
  const auto at = std::upper_bound(steps_.begin(), steps_.end(), rank,
                                   [](std::int64_t r, const Step& step) { return r < step.up_to; });
  double wall = (at == steps_.end() ? steps_.back() : *at).mean;
  if (bytes > 0 && bytes_ > 0) wall *= static_cast<double>(bytes) / bytes_;
  return {rounded(wall * wait_share_), 0, rounded(wall * cpu_share_)};
}

MeasuredTimes MeasuredTimes::at_mean() const {
  MeasuredTimes mean = *this;
  if (count_ == 0) return mean;
  double sum = 0;
  std::int64_t before = 0;
  for (const Step& step : steps_) {
    sum += step.mean * static_cast<double>(step.up_to - before);
    before = step.up_to;
  }
  mean.steps_ = {{count_, sum / static_cast<double>(count_)}};
  return mean;
}

bool FittedCosts::knows(Stage stage) const {
  const std::size_t place = place_of(stage);
  return std::any_of(ranks.begin(), ranks.end(), [&](const Rank& rank) {
    if (place == kSampleStages.size()) return rank.stages[stage].known();
    return std::any_of(rank.samples.begin(), rank.samples.end(),
                       [&](const Sample& s) { return s.stages.at(place).wall() > 0; });
  });
}

const FittedCosts::Rank& FittedCosts::rank_of(const Execution& execution) const {
  return ranks[static_cast<std::size_t>(execution.rank) % ranks.size()];
}

// A shuffle of the rows per epoch, so that a window draws each of them about equally often.
const FittedCosts::Sample& FittedCosts::sample_of(const Execution& execution,
                                                  std::uint64_t seed) const {
  const std::vector<Sample>& samples = rank_of(execution).samples;
  const auto n = static_cast<std::int64_t>(samples.size());
  const std::int64_t row = shuffled_index(execution.draw % n, n, seed, execution.epoch);
  return samples[static_cast<std::size_t>(row)];
}

StageTime FittedCosts::at_speed(Stage stage, StageTime time) const {
  if (speed[stage] <= 0) return time;
  const double factor = 1 / speed[stage];
  return {scaled(time.waits, factor), scaled(time.transfers, factor), scaled(time.cpu, factor)};
}

StageTime FittedCosts::of_sample(Stage stage, const Execution& execution,
                                 std::uint64_t seed) const {
  if (rank_of(execution).samples.empty()) return {};
  return at_speed(stage, sample_of(execution, seed).stages.at(place_of(stage)));
}

StageTime FittedCosts::of_other(Stage stage, const Execution& execution, std::uint64_t seed) const {
  const double u = uniform_draw(seed, execution.epoch, execution.draw, stage);
  const Rank& rank = rank_of(execution);
  const bool is_last =
      stage == Stage::compute && execution.last_of_epoch && rank.last_compute.known();
  const MeasuredTimes& times = is_last ? rank.last_compute : rank.stages[stage];
  const StageTime time = at_speed(stage, times.draw(u, execution.bytes));
  if (stage != Stage::compute || compute_alone >= 1) return time;
  return {scaled(time.waits, compute_alone), scaled(time.transfers, compute_alone),
          scaled(time.cpu, compute_alone)};
}

double FittedCosts::waiting_share() const {
  double waits = 0, wall = 0;
  for (const Rank& rank : ranks) {
    for (const Sample& sample : rank.samples) {
      for (const StageTime& time : sample.stages) {
        waits += static_cast<double>(time.waits + time.transfers);
        wall += static_cast<double>(time.wall());
      }
    }
  }
  return wall > 0 ? waits / wall : 0;
}

FittedCosts FittedCosts::at_means() const {
  FittedCosts means = *this;
  for (Rank& rank : means.ranks) {
    if (!rank.samples.empty()) rank.samples = {mean_of(rank.samples)};
    for (MeasuredTimes& times : rank.stages) times = times.at_mean();
    rank.last_compute = rank.last_compute.at_mean();
  }
  return means;
}

Bytes FittedCosts::bytes_of_sample(const Execution& execution, std::uint64_t seed) const {
  return rank_of(execution).samples.empty() ? 0 : sample_of(execution, seed).bytes;
}

}  // namespace loaderscope
