#include "engine/pipeline/fitted_costs.h"

#include <algorithm>
#include <cmath>

namespace loaderscope {
namespace {

std::size_t stage_index(Stage stage) {
  return static_cast<std::size_t>(std::find(kSampleStages.begin(), kSampleStages.end(), stage) -
                                  kSampleStages.begin());
}

Nanos scaled(Nanos ns, double factor) {
  const double value = static_cast<double>(ns) * factor;
  return std::llround(std::min(value, static_cast<double>(kMaxCost)));
}

StageTime scaled(StageTime time, double factor) {
  for (Nanos StageTime::*part : {&StageTime::waits, &StageTime::transfers, &StageTime::cpu})
    time.*part = scaled(time.*part, factor);
  return time;
}

Nanos rounded(double ns) {
  return std::llround(std::clamp(ns, 0.0, static_cast<double>(kMaxCost)));
}

// Mean over the time on cores.
double mean_threads(const std::vector<FittedCosts::Sample>& samples, std::size_t stage) {
  double cpu = 0, all = 0;
  for (const FittedCosts::Sample& sample : samples) {
    const StageTime& time = sample.stages.at(stage);
    cpu += static_cast<double>(time.cpu);
    all += static_cast<double>(time.cpu) * time.threads;
  }
  return cpu > 0 ? all / cpu : 1;
}

bool has_decode(const FittedCosts::Sample& sample) {
  return sample.stages[stage_index(Stage::decode)].wall() > 0;
}

// Requires at least one sample.
FittedCosts::Sample mean_sample(const std::vector<FittedCosts::Sample>& samples) {
  const auto mean = [&](const auto& part) {
    double sum = 0;
    for (const FittedCosts::Sample& sample : samples) sum += static_cast<double>(part(sample));
    return std::llround(sum / static_cast<double>(samples.size()));
  };
  FittedCosts::Sample result;
  result.bytes = mean([](const FittedCosts::Sample& s) { return s.bytes; });
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const auto mean_time = [&](Nanos StageTime::*time) {
      return mean([&](const FittedCosts::Sample& s) { return s.stages.at(i).*time; });
    };
    result.stages.at(i) = {mean_time(&StageTime::waits), mean_time(&StageTime::transfers),
                           mean_time(&StageTime::cpu)};
    result.stages.at(i).threads = mean_threads(samples, i);
  }
  return result;
}

// Gives each sample the mean of its kind: those that workers decoded, and those that they did not.
void take_means_by_kind(std::vector<FittedCosts::Sample>& samples) {
  const auto others = std::stable_partition(samples.begin(), samples.end(), has_decode);
  for (const auto& [begin, end] :
       {std::pair(samples.begin(), others), std::pair(others, samples.end())})
    if (begin != end) std::fill(begin, end, mean_sample({begin, end}));
}

}  // namespace

StageTime StageTime::with_library(const LibraryTime& library) const {
  if (library.cpu <= 0 || waits <= 0) return *this;
  const auto blocked = static_cast<double>(waits), own = static_cast<double>(cpu);
  StageTime time = *this;
  time.waits = rounded(library.waiting() * blocked);
  time.cpu = rounded(own + library.computing() * blocked);
  time.threads = std::max(1.0, (own + library.cpu * blocked) / static_cast<double>(time.cpu));
  return time;
}

MeasuredTimes::MeasuredTimes(const StageStats& stats, const LibraryTime& library)
    : MeasuredTimes(stats) {
  library_ = library;
}

MeasuredTimes::MeasuredTimes(const StageStats& stats) {
  Nanos counted = 0;
  for (const Histogram::Bucket& bucket : stats.wall_histogram.buckets()) {
    count_ += bucket.count;
    counted += bucket.sum;
    steps_.push_back({count_, static_cast<double>(bucket.sum) / static_cast<double>(bucket.count)});
  }
  // The buckets exclude the time that first calls add to the starts of workers.
  if (counted > 0 && stats.wall > counted) {
    for (Step& step : steps_)
      step.mean *= static_cast<double>(stats.wall) / static_cast<double>(counted);
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
  return StageTime{rounded(wall * wait_share_), 0, rounded(wall * cpu_share_)}.with_library(
      library_);
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

std::vector<std::size_t> JobHosts::rank_hosts(std::int64_t ranks) const {
  std::vector<std::size_t> hosts;
  for (std::size_t host = 0; host < measured.size(); ++host)
    hosts.insert(hosts.end(), static_cast<std::size_t>(measured[host].ranks), host);
  if (std::ssize(hosts) == ranks) return hosts;
  hosts.clear();
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    hosts.push_back(static_cast<std::size_t>(rank * count / ranks));
  return hosts;
}

Nanos JobHosts::remote_cpu(Nanos cpu, Bytes delivered) const {
  const double computes = static_cast<double>(cpu) / decode_cores;
  const double sends =
      decode_rate > 0 ? static_cast<double>(delivered) * static_cast<double>(kSecond) / decode_rate
                      : 0;
  return rounded(std::max(computes, sends));
}

bool FittedCosts::knows(Stage stage) const {
  const std::size_t place = stage_index(stage);
  return std::any_of(ranks.begin(), ranks.end(), [&](const Rank& rank) {
    if (place == kSampleStages.size()) return rank.stages[stage].known();
    return std::any_of(rank.samples.begin(), rank.samples.end(),
                       [&](const Sample& s) { return s.stages.at(place).wall() > 0; });
  });
}

const FittedCosts::Rank& FittedCosts::fitted_rank(const Execution& execution) const {
  return ranks[static_cast<std::size_t>(execution.rank) % ranks.size()];
}

bool FittedCosts::separates_samples() const {
  return std::all_of(ranks.begin(), ranks.end(),
                     [](const Rank& rank) { return rank.samples_per_row == 0; });
}

// A shuffle of the rows per epoch, so that a window draws each of them about equally often. Ranks
// that share rows of batches are not to draw the same one at a time.
const FittedCosts::Sample* FittedCosts::drawn_sample(const Execution& execution,
                                                     std::uint64_t seed) const {
  const Rank& rank = fitted_rank(execution);
  if (rank.samples.empty()) return nullptr;
  std::int64_t draw = execution.draw, first = 0;
  auto rows = static_cast<std::int64_t>(rank.samples.size());
  if (rank.samples_per_row > 0) {
    if (execution.count % rank.samples_per_row != 0) return nullptr;
    draw = execution.count / rank.samples_per_row + execution.rank;
    const bool is_short = execution.samples < rank.samples_per_row && rank.short_rows > 0;
    if (is_short) first = rows - rank.short_rows;
    rows = is_short ? rank.short_rows : rows - rank.short_rows;
  }
  const std::int64_t row = first + shuffled_index(draw % rows, rows, seed, execution.epoch);
  return &rank.samples[static_cast<std::size_t>(row)];
}

StageTime FittedCosts::at_speed(Stage stage, StageTime time) const {
  if (speed[stage] <= 0) return time;
  return scaled(time, 1 / speed[stage]);
}

StageTime FittedCosts::sample_time(Stage stage, const Execution& execution,
                                   std::uint64_t seed) const {
  const Sample* sample = drawn_sample(execution, seed);
  return sample == nullptr ? StageTime{} : at_speed(stage, sample->stages.at(stage_index(stage)));
}

bool FittedCosts::was_left_to_device(const Execution& execution, std::uint64_t seed) const {
  const Sample* sample = drawn_sample(execution, seed);
  return sample != nullptr && !has_decode(*sample);
}

StageTime FittedCosts::batch_time(Stage stage, const Execution& execution,
                                  std::uint64_t seed) const {
  const double u = uniform_draw(seed, execution.epoch, execution.draw, stage);
  const Rank& rank = fitted_rank(execution);
  const bool is_last =
      stage == Stage::compute && execution.last_of_epoch && rank.last_compute.known();
  const MeasuredTimes& times = is_last ? rank.last_compute : rank.stages[stage];
  const StageTime time = at_speed(stage, times.draw(u, execution.bytes));
  if (stage != Stage::compute || compute_alone >= 1) return time;
  return scaled(time, compute_alone);
}

// A trainer that launches faster finishes the launches of a step sooner.
Nanos FittedCosts::overlapped_work(const Execution& execution, std::uint64_t seed) const {
  const MeasuredTimes& times = fitted_rank(execution).overlapped_work;
  if (!times.known()) return 0;
  const double u = uniform_draw(seed, execution.epoch, execution.draw, Stage::launch);
  return at_speed(Stage::launch, times.draw(u, 0)).wall();
}

StageTime FittedCosts::received(StageTime whole, const Knockouts& without) const {
  const double faster = speed[busy_workers.stage];
  const double left = without.has(busy_workers.stage) ? 0 : faster > 0 ? 1 / faster : 1;
  whole.waits = scaled(whole.waits, 1 - busy_workers.share * (1 - left));
  return whole;
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
    if (made_for_device)
      take_means_by_kind(rank.samples);
    else if (!rank.samples.empty())
      rank.samples = {mean_sample(rank.samples)};
    rank.short_rows = 0;
    for (MeasuredTimes& times : rank.stages) times = times.at_mean();
    rank.last_compute = rank.last_compute.at_mean();
    rank.overlapped_work = rank.overlapped_work.at_mean();
  }
  return means;
}

Bytes FittedCosts::bytes_of_sample(const Execution& execution, std::uint64_t seed) const {
  const Sample* sample = drawn_sample(execution, seed);
  return sample == nullptr ? 0 : sample->bytes;
}

}  // namespace loaderscope
