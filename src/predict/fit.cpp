#include "predict/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/contention.h"
#include "analysis/library_threads.h"
#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "predict/storage_fit.h"
#include "record/family_traits.h"

namespace loaderscope::model {
namespace {

// Launches of a program's thread. The GPU runs kernels while the thread launches later ones. The
// thread asks for the next batch when it has launched all kernels, and not when they have ended.
constexpr Nanos kAtOnce = 100 * kMicrosecond;  // longest pause of the thread after a compute
constexpr double kLags = 0.1;                  // share of a compute; above it the GPU waits

struct Launching {
  StageStats before_compute, overlapped_work, decode, augment;
  std::int64_t steps = 0, waited = 0;  // waited: steps whose thread waited for the GPU

  void add(const StepRow& row, Nanos next_ask) {
    const Nanos before = std::max<Nanos>(row.stall[Cause::launch] - row.not_asking, 0);
    const Nanos all = next_ask - row.take - (row.copy_end - row.copy_begin);
    before_compute.add(before, 0, 0, 0);
    overlapped_work.add(std::max<Nanos>(all - before, 0), 0, 0, 0);
    decode.add(row.device.decode, 0, 0, 0);
    augment.add(row.device.augment, 0, 0, 0);
    ++steps;
    const bool lags = static_cast<double>(before) > kLags * static_cast<double>(row.compute());
    waited += !lags && next_ask >= row.compute_end - kAtOnce ? 1 : 0;
  }
};

// Returns true if the record has the GPU's own times of a program's steps.
bool knows_launches(const RunRecord& record) {
  return is_guest_engine(record.engine) && record.config.program.loader.value.empty() &&
         device_kind(record.config.trainer.device.value) == DeviceKind::gpu;
}

// Sets the time of the launches before and during a step's compute. If the rank waits for the
// compute in most steps, sets that instead.
void fit_launching(const RankRecord& record, FittedCosts::Rank& rank) {
  Launching launching;
  std::optional<StepRow> before;
  record.rows.for_each(
      [&](const StepRow& row) {
        if (before && !row.first_of_epoch) launching.add(*before, row.ask);
        before = row;
      },
      record.warmup_steps);
  if (launching.steps == 0) return;
  rank.stages[Stage::launch] = MeasuredTimes(launching.before_compute);
  if (launching.decode.wall > 0) rank.stages[Stage::gpu_decode] = MeasuredTimes(launching.decode);
  if (launching.augment.wall > 0)
    rank.stages[Stage::gpu_augment] = MeasuredTimes(launching.augment);
  if (2 * launching.waited > launching.steps) {
    rank.waits_for_compute = true;
    return;
  }
  rank.overlapped_work = MeasuredTimes(launching.overlapped_work);
}

constexpr std::array<Stage, 7> kBatchStages = {
    Stage::collate, Stage::transport, Stage::transport_recv, Stage::pin,
    Stage::launch,  Stage::startup,   Stage::startup_parent};
constexpr std::array<Stage, 2> kDeviceStages = {Stage::h2d, Stage::compute};
constexpr std::array<Stage, 2> kAfterTake = {Stage::gpu_decode, Stage::gpu_augment};

constexpr double kSameQueue = 0.01;  // share of CPU time plus run-queue delay
constexpr double kMaxQueued = 0.95;
constexpr int kHalvings = 6;
constexpr double kMinOthers = 0.05;  // threads: fewer are not worth a word
constexpr double kMinAlone = 0.1;    // share of the measured time of a compute

// Returns the run-queue delay as a share of it and the CPU time of all threads. Copies are left
// out, as their need of a core is not measured.
double queued_share(const RunRecord& record) {
  double cpu = 0, queued = 0;
  for (const RankRecord& rank : record.ranks) {
    for (const auto& word : Words<Stage>::table()) {
      if (word.value == Stage::h2d) continue;
      cpu += static_cast<double>(rank.stages[word.value].cpu);
      queued += static_cast<double>(rank.stages[word.value].queued);
    }
  }
  return cpu + queued > 0 ? queued / (cpu + queued) : 0;
}

// Returns the mean over all ranks in ns.
double mean_compute(const RunRecord& record) {
  StageStats all;
  for (const RankRecord& rank : record.ranks) all.merge(rank.stages[Stage::compute]);
  return all.count > 0 ? static_cast<double>(all.wall) / static_cast<double>(all.count) : 0;
}

// Other threads that may have taken the cores, by the CPU time counted outside the loader.
struct Others {
  double most = 0;  // threads, that wait for a core as large a part of their time as ours
  bool are_own = false;
};

std::optional<Others> fit_others(const RunRecord& record, double queued, bool trains_here) {
  constexpr double kSlack = 1.5;
  const auto others = value_of(record.metrics, metric::host_other_cpu_s);
  Nanos window = 0;
  for (const RankRecord& rank : record.ranks) window = std::max(window, rank.window());
  if (!others || window <= 0) return std::nullopt;
  // Counts the program's own threads outside its loader, unless they train.
  const double all = value_of(record.metrics, metric::process_cpu_s).value_or(0);
  const double loader = seconds(cpu_of_stages(record)) + cpu_of_libraries(record).value_or(0);
  const double own = trains_here ? 0 : std::max(0.0, all - loader);
  const auto hosts = static_cast<double>(std::max<std::size_t>(1, record.hosts.size()));
  return Others{kSlack * (*others + own) / hosts / seconds(window) / (1 - queued), own > *others};
}

FittedCosts::Sample fit_sample(const SampleRow& row, const PerStage<LibraryTime>& libraries) {
  FittedCosts::Sample sample;
  sample.bytes = row.bytes;
  for (std::size_t i = 0; i < row.parts.size(); ++i) {
    const SampleRow::Part& part = row.parts.at(i);
    const StageTime seen = {std::max<Nanos>(part.wall - part.cpu - part.queued, 0), 0, part.cpu};
    sample.stages.at(i) = seen.with_library(libraries[kSampleStages.at(i)]);
  }
  return sample;
}

// The compute of the last step of an epoch includes the program's work between two epochs.
void split_compute(const RankRecord& record, FittedCosts::Rank& rank) {
  StageStats last, others;
  std::optional<Nanos> before;
  const auto add = [](StageStats& stats, Nanos compute) {
    if (compute > 0) stats.add(compute, 0, 0, 0);
  };
  record.rows.for_each(
      [&](const StepRow& row) {
        if (before) add(row.first_of_epoch ? last : others, *before);
        before = row.compute();
      },
      record.warmup_steps);
  if (before) add(others, *before);
  if (last.count == 0 || others.count == 0) return;
  rank.stages[Stage::compute] = MeasuredTimes(others);
  rank.last_compute = MeasuredTimes(last);
}

// Moves short batches to the end, as an epoch of equal batches ends with a short one. Streams end
// when their workers do, and batches of many sizes have no last one.
void put_short_rows_last(std::vector<SampleRow>& rows, const RunConfig& config,
                         FittedCosts::Rank& rank) {
  const std::int64_t size = rank.samples_per_row;
  const auto count = [&](auto which) { return std::count_if(rows.begin(), rows.end(), which); };
  const auto larger = count([&](const SampleRow& row) { return row.samples() > size; });
  const auto shorter = count([&](const SampleRow& row) { return row.samples() < size; });
  if (config.data.samples <= 0 || larger > 0 || shorter == std::ssize(rows)) return;
  std::stable_partition(rows.begin(), rows.end(),
                        [&](const SampleRow& row) { return row.samples() == size; });
  rank.short_rows = shorter;
}

// A program waits for its other loaders in some steps, and in the others takes no time for that.
StageStats launches_of_all_steps(const RankRecord& record) {
  StageStats launches = record.stages[Stage::launch];
  if (launches.count == 0) return launches;
  while (launches.count < record.steps()) launches.add(0, 0, 0, 0);
  return launches;
}

// The program has received its batch, and dispatches a later one before it computes.
StageStats launches_with_dispatch(const RankRecord& record) {
  StageStats launches;
  record.rows.for_each(
      [&](const StepRow& row) {
        const Nanos copy = row.copy_end - row.copy_begin;
        launches.add(std::max<Nanos>(row.compute_begin - row.take - copy, 0), 0, 0, 0);
      },
      record.warmup_steps);
  return launches;
}

// Results of older versions have the normalisation of bytes as a part of compute.
bool works_after_take(const RankRecord& record) {
  bool works = false;
  if (record.stages[Stage::gpu_decode].count + record.stages[Stage::gpu_augment].count == 0)
    return works;
  record.rows.for_each([&](const StepRow& row) { works = works || row.made_end > 0; });
  return works;
}

FittedCosts::Rank fit_rank(const RankRecord& record, const RunConfig& config, bool device_is_real,
                           const PerStage<LibraryTime>& libraries) {
  FittedCosts::Rank rank;
  std::vector<SampleRow> rows = record.reservoir;
  if (!rows.empty() && rows.front().is_batch()) {
    rank.samples_per_row = std::max<std::int64_t>(config.loader.batch_size, 1);
    put_short_rows_last(rows, config, rank);
  }
  rank.samples.reserve(rows.size());
  for (const SampleRow& row : rows) rank.samples.push_back(fit_sample(row, libraries));
  for (Stage stage : kBatchStages)
    rank.stages[stage] = MeasuredTimes(record.stages[stage], libraries[stage]);
  const bool dispatches = device_kind(config.trainer.device.value) == DeviceKind::program &&
                          config.loader.num_workers > 0;
  rank.stages[Stage::launch] =
      MeasuredTimes(dispatches ? launches_with_dispatch(record) : launches_of_all_steps(record));
  if (!device_is_real) return rank;
  for (Stage stage : kDeviceStages) rank.stages[stage] = MeasuredTimes(record.stages[stage]);
  if (!config.makes_on_device() && works_after_take(record))
    for (Stage stage : kAfterTake) rank.stages[stage] = MeasuredTimes(record.stages[stage]);
  split_compute(record, rank);
  return rank;
}

JobHosts fit_hosts(const RunRecord& record) {
  JobHosts hosts;
  hosts.count = std::max<std::int64_t>(1, std::ssize(record.hosts));
  for (const HostRecord& host : record.hosts)
    hosts.measured.push_back(
        {host.ranks, record.config.declared.cores.given ? 0 : host.machine.cores});
  return hosts;
}

// Returns the busy workers as the account of a step books them.
FittedCosts::BusyWorkers fit_busy_workers(const RunRecord& record) {
  StageStats receives;
  PerStage<Nanos> cpu{};
  for (const RankRecord& rank : record.ranks) {
    receives.merge(rank.stages[Stage::transport_recv]);
    for (const Stage stage : kMakingStages) cpu[stage] += rank.stages[stage].cpu;
  }
  const double busy = value_of(record.metrics, metric::transport_busy_worker_s).value_or(0);
  const double waited = seconds(receives.blocked());
  if (waited <= 0) return {};
  const auto most = std::max_element(cpu.begin(), cpu.end()) - cpu.begin();
  return {static_cast<Stage>(most),
          std::min(busy * static_cast<double>(receives.count) / waited, 1.0)};
}

}  // namespace

FittedCosts fit_costs(const RunRecord& record, std::vector<std::string>& notes) {
  FittedCosts costs;
  costs.hosts = fit_hosts(record);
  const bool declared = !record.config.has_data() && !is_guest_engine(record.engine);
  if (declared) return costs;
  costs.made_for_device = record.config.makes_on_device();
  const bool device_is_real =
      !record.simulated && device_kind(record.config.trainer.device.value) != DeviceKind::none;
  const PerStage<LibraryTime> libraries = library_threads(record);
  for (const LibraryTime& library : libraries)
    if (library.cpu > 0)
      costs.making_threads = std::max(costs.making_threads, library.cpu / library.computing());
  std::size_t rows = 0;
  for (const RankRecord& rank : record.ranks) {
    costs.ranks.push_back(fit_rank(rank, record.config, device_is_real, libraries));
    if (knows_launches(record)) fit_launching(rank, costs.ranks.back());
    rows += rank.reservoir.size();
  }
  if (rows == 0) {
    throw RunError(
        "no single sample was seen, and no batch of samples, so the effect of other settings is "
        "not known",
        "try them with --try or sweep");
  }
  if (!costs.separates_samples())
    notes.push_back("no single sample was seen: whole batches are drawn again");
  costs.shards = std::llround(value_of(record.metrics, metric::data_shards).value_or(0));
  fit_storage(costs, record, notes);
  costs.batch = sent_batch(record);
  costs.busy_workers = fit_busy_workers(record);
  costs.turn = std::llround(value_of(record.metrics, metric::transport_turn_s).value_or(0) * 1e9);
  return costs;
}

// Finds the compute time without workers. Times that were measured with workers include their use
// of the cores, which the model adds again.
void fit_compute(FittedCosts& costs, const RunRecord& record,
                 const std::function<RunRecord(const FittedCosts&)>& run) {
  const double seen = computing_threads(record);
  const double most = record.config.declared.cores * static_cast<double>(costs.hosts.count) /
                      static_cast<double>(record.config.trainer.ranks);
  costs.compute_threads = std::min(seen, most);
  costs.compute_alone = 1;
  if (seen == 0 || (record.config.loader.num_workers == 0 && costs.other_threads == 0)) return;
  const double measured = mean_compute(record);
  double low = kMinAlone, high = 1;
  for (int i = 0; i < kHalvings; ++i) {
    costs.compute_alone = (low + high) / 2;
    // A team that moves on for a part of its time has each of its threads on a core for about the
    // root of that.
    costs.compute_threads = std::min(seen / std::sqrt(costs.compute_alone), most);
    (mean_compute(run(costs)) < measured ? low : high) = costs.compute_alone;
  }
}

// The more there are the longer everybody waits: the interval around the answer is halved.
void fit_other_threads(FittedCosts& costs, const RunRecord& record,
                       const std::function<RunRecord(const FittedCosts&)>& run,
                       std::vector<std::string>& notes) {
  if (!record.contention_known) return;
  const double measured = std::min(queued_share(record), kMaxQueued);
  if (measured < queued_share(run(costs)) + kSameQueue) return;
  double low = 0, high = record.config.declared.cores / (1 - measured);
  const std::optional<Others> others = fit_others(record, measured, costs.compute_threads > 0);
  if (others) high = std::min(high, others->most);
  if (high < kMinOthers) return;
  for (int i = 0; i < kHalvings; ++i) {
    costs.other_threads = (low + high) / 2;
    (queued_share(run(costs)) < measured ? low : high) = costs.other_threads;
  }
  notes.push_back(fmt::format(
      "{} took cores as {:.1f} more threads would, and are assumed to continue",
      others && others->are_own ? "threads of this program outside its loader" : "other processes",
      costs.other_threads));
}

}  // namespace loaderscope::model
