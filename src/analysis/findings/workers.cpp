// Findings about how many workers there are and how long they live.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/contention.h"
#include "analysis/epochs.h"
#include "analysis/findings/finding_input.h"
#include "analysis/findings/worker_memory.h"
#include "analysis/first_workers.h"
#include "analysis/library_threads.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxWorkers = 128;  // per rank, that anybody is advised to have
constexpr std::int64_t kFirstWorkers = 2;  // at least, to try where there are none

constexpr double kWorthTrying = 1.1;  // times the rate: less than that may be a loss

// The number of workers that the cores can feed. Workers that always compute are never more than
// the cores. Workers that wait need no core meanwhile, and those whose libraries compute with
// several threads need more than one.
std::int64_t workers_on_cores(const FindingInput& facts) {
  const double cores = facts.cores_per_rank(), need = facts.need_of_core();
  const auto fed = std::llround(std::ceil(cores / std::max(need, 1.0 / kMaxWorkers)));
  if (need < kAlwaysComputes) return fed;
  return std::clamp<std::int64_t>(std::llround(std::floor(cores)), 1, fed);
}

// Returns twice as many workers, to try if no prediction exists. The cores, the free memory and the
// shards of a stream limit the number. Returns nothing if more workers could only share the
// resources of the present ones.
Changes twice_the_workers(const FindingInput& facts) {
  const std::int64_t workers = facts.config.loader.num_workers;
  std::int64_t most = std::min(2 * workers, kMaxWorkers);
  if (const std::int64_t on_cores = workers_on_cores(facts); on_cores > 0)
    most = std::min(most, on_cores);
  if (const auto more = workers_in_memory(facts)) most = std::min(most, workers + *more);
  if (const std::int64_t shards = shards_of_stream(facts); shards > 0)
    most = std::min(most, shards);
  if (most <= workers) return {};
  return {number("num-workers", most)};
}

// Returns the number of workers to try if there are none. With a GPU, they make a batch in the time
// that the trainer needs for everything else, each on its own core.
std::int64_t first_workers(const FindingInput& facts) {
  const double making = facts.making();
  if (!facts.has_gpu() || making >= 1) return kFirstWorkers;
  const double keep_up = std::ceil(making / (1 - making));
  const double most = std::min<double>(facts.cores_per_rank(), kMaxWorkers);
  return std::max<std::int64_t>(kFirstWorkers, std::llround(std::floor(std::min(keep_up, most))));
}

std::string workers_line(const FindingInput& facts) {
  return loader_words(facts.record, {"num_workers={}"});
}

// A thread blocked in these stages waits for a library's compute threads (tokenizers, OpenCV) and
// not for storage. This is a guess if the time of those threads is unknown.
bool needs_cores(Stage stage) {
  return stage == Stage::decode || stage == Stage::augment || stage == Stage::collate;
}

double threads_of_training(const FindingInput& facts) {
  return std::min(computing_threads(facts.record), facts.cores_per_rank());
}

// True if the first workers may gain enough although training computes on the same cores. An
// estimate that is never printed. While workers run, the threads of training wait for a core and
// for each other, as in the model's SharedServer. Workers make the rest while the trainer waits.
bool is_worth_trying(const FindingInput& facts) {
  const double cores = facts.cores_per_rank();
  const double threads = threads_of_training(facts);
  const auto steps = static_cast<double>(facts.analysis.steps);
  if (threads <= 0 || steps <= 0) return true;
  const SentBatch batch = sent_batch(facts.record);
  double work = brought_by_first_workers(Stage::transport, batch) +
                brought_by_first_workers(Stage::collate, batch);
  double waits = 0;
  const bool counted = cpu_of_libraries(facts.record).has_value();
  for (Stage stage : kMakingStages) {
    const double blocked = static_cast<double>(facts.stages[stage].blocked()) / steps;
    const bool computes = !counted && needs_cores(stage);
    work += static_cast<double>(facts.stages[stage].cpu) / steps +
            (computes ? 1 : facts.libraries[stage].cpu) * blocked;
    waits += computes ? 0 : facts.libraries[stage].waiting() * blocked;
  }
  const auto workers = static_cast<double>(kFirstWorkers);
  const double compute = static_cast<double>(facts.stages[Stage::compute].wall) / steps;
  const double has_core = std::min(1.0, cores / (threads + workers));
  const double speed = std::pow(has_core, std::clamp(threads, 1.0, 2.0));
  const double together = std::min(compute / speed, work / (workers * has_core));
  const double left = (work - workers * has_core * together) / std::min(workers, cores);
  const double step = together + compute - speed * together + left +
                      brought_by_first_workers(Stage::transport_recv, batch);
  const double before = static_cast<double>(facts.analysis.account.window) / steps;
  return before / std::max(step, (work + waits) / workers) >= kWorthTrying;
}

}  // namespace

std::int64_t shards_of_stream(const FindingInput& facts) {
  return std::llround(facts.metric(metric::data_shards));
}

// The range ends at 8 times the workers of a measured program, whose data set and machine may not
// give more. It never exceeds the workers that the cores can feed or the free memory can hold.
SettingRange more_workers(const FindingInput& facts) {
  constexpr std::int64_t kTimesAsMany = 8;
  const std::int64_t workers = facts.config.loader.num_workers;
  std::int64_t most = kMaxWorkers;
  if (is_guest_engine(facts.record.engine))
    most = std::min(most, kTimesAsMany * std::max<std::int64_t>(1, workers));
  most = std::min(most, workers_on_cores(facts));
  if (const auto more = workers_in_memory(facts)) most = std::min(most, workers + *more);
  if (const std::int64_t shards = shards_of_stream(facts); shards > 0)
    most = std::min(most, shards);
  return {"num-workers", workers, std::max(most, workers)};
}

double waits_for_workers(const FindingInput& facts) {
  double sum = 0;
  for (const auto& word : Words<Why>::table()) sum += facts.share(word.value);
  return sum;
}

std::string start_words(const FindingInput& facts) {
  const StageStats& starts = facts.stages[Stage::startup];
  if (facts.config.loader.executor != Executor::processes || starts.count == 0) return "";
  return fmt::format("; a worker takes {} to start by {}",
                     format_duration(starts.wall / starts.count),
                     name_of(facts.config.loader.mp_context.value));
}

namespace {

// Batches of samples in memory, each of which the trainer makes in less time than it would take to
// receive it from a worker.
bool costs_more_to_receive(const FindingInput& facts) {
  if (facts.metric(metric::data_cheap_samples) <= 0 || facts.analysis.steps <= 0) return false;
  Nanos made = 0;
  for (const Stage stage : kMakingStages)
    made += facts.stages[stage].wall - facts.stages[stage].queued;
  return static_cast<double>(made) / static_cast<double>(facts.analysis.steps) <
         brought_by_first_workers(Stage::transport_recv, sent_batch(facts.record), Amount::most);
}

// Epochs of a program that are so short that new workers in each of them would take much of it.
bool starts_would_show(const FindingInput& facts) {
  constexpr double kStart = 0.1;  // s of a worker, at least, with what it does for the first time
  constexpr std::int64_t kCounted = 0;
  if (!is_guest_engine(facts.record.engine)) return false;
  const SeenEpochs seen = epochs_seen(facts.record, facts.analysis.account, kCounted);
  const double epoch_s = steps_of_epoch(facts.config, seen) * seen.step_ns() * 1e-9;
  return epoch_s > 0 && kStart >= kMinReportedShare * epoch_s;
}

}  // namespace

std::optional<Candidate> no_workers(const FindingInput& facts) {
  if (facts.config.loader.num_workers > 0 || facts.making() < kMinReportedShare ||
      !facts.sees_inside())
    return std::nullopt;
  if (costs_more_to_receive(facts) || !is_worth_trying(facts)) return std::nullopt;
  const bool share_cores =
      threads_of_training(facts) > 0 &&
      threads_of_training(facts) + static_cast<double>(kFirstWorkers) > facts.cores_per_rank();
  Candidate candidate;
  candidate.evidence = fmt::format(
      "without workers the trainer makes every batch itself, {} of the time{}",
      format_percent(facts.making()),
      share_cores
          ? "; workers would share " + format_cores(facts.cores_per_rank()) + " with training"
          : "");
  candidate.pytorch = workers_line(facts);
  candidate.ranges = {more_workers(facts)};
  candidate.direction = {number("num-workers", first_workers(facts))};
  if (starts_would_show(facts) && !find_framework(facts.record).keeps_workers) {
    const Change keep{"persistent-workers", "true"};
    candidate.pytorch = loader_words(facts.record, {"num_workers={}", "persistent_workers=True"});
    candidate.ranges.front().with = {keep};
    candidate.direction.push_back(keep);
  }
  return candidate;
}

std::optional<Candidate> too_few_workers(const FindingInput& facts) {
  const std::int64_t workers = facts.config.loader.num_workers;
  const double waits = waits_for_workers(facts), never_rest = facts.share(Why::capacity);
  if (workers == 0 || waits < kMinReportedShare || !facts.sees_inside()) return std::nullopt;
  // A program's GPU makes the batch after the workers have ended.
  if (!facts.config.makes_on_device() && waits_for_device(facts.analysis.account))
    return std::nullopt;
  const std::int64_t shards = shards_of_stream(facts);
  if (shards > 0 && workers >= shards) return std::nullopt;
  const std::string what =
      never_rest >= kMinReportedShare
          ? fmt::format("{} never {} while the trainer waits {} of the time",
                        plural(workers, "worker"), workers == 1 ? "rests" : "rest",
                        format_percent(never_rest))
          : fmt::format("the trainer waits {} of the time for batches that {} {}",
                        format_percent(waits), plural(workers, "worker"),
                        workers == 1 ? "makes" : "make");
  Candidate candidate;
  candidate.evidence =
      fmt::format("{}; {} per rank, workers are on a CPU {} of their time", what,
                  format_cores(facts.cores_per_rank()), format_percent(facts.cpu_share()));
  if (workers_in_memory(facts) == 0) {
    candidate.pytorch = "less memory per worker: " + no_room_words(facts);
    candidate.gives_waited = true;
    return candidate;
  }
  candidate.pytorch = workers_line(facts);
  candidate.ranges = {more_workers(facts)};
  candidate.direction = twice_the_workers(facts);
  return candidate;
}

std::optional<Candidate> whole_batch_tasks(const FindingInput& facts) {
  const RunConfig& config = facts.config;
  const bool could_share = !is_guest_engine(facts.record.engine) && config.loader.num_workers > 1 &&
                           config.loader.batch_size > 1 && config.loader.task == TaskShape::batch;
  const double late = waits_for_workers(facts) - facts.share(Why::capacity);
  const double waits = std::max(late, facts.share(facts.analysis.account.order));
  if (!could_share || waits < kMinReportedShare) return std::nullopt;
  Candidate candidate{
      fmt::format("each batch is made by one of {} alone, and the others cannot help "
                  "with one that is waited for: {} of the time",
                  plural(config.loader.num_workers, "worker"), format_percent(waits)),
      {{{"task", "sample"},
        number("prefetch-depth", config.loader.prefetch_factor * config.loader.num_workers)}},
      "a loader whose workers share the samples of a batch (DALI, FFCV)"};
  candidate.advice = {{"task", candidate.pytorch, true}};
  return candidate;
}

std::optional<Candidate> too_many_workers(const FindingInput& facts) {
  const auto cores = static_cast<std::int64_t>(std::max(1.0, std::floor(facts.cores_per_rank())));
  if (facts.config.loader.num_workers <= cores ||
      facts.share(Cause::contention) < kMinReportedShare)
    return std::nullopt;
  return Candidate{
      fmt::format("{} per rank share {} and wait for {} {} of the time",
                  plural(facts.config.loader.num_workers, "worker"),
                  format_cores(facts.cores_per_rank()), facts.cores_per_rank() == 1 ? "it" : "one",
                  format_percent(facts.share(Cause::contention))),
      {{number("num-workers", cores)}},
      workers_line(facts)};
}

// One after another by the parent, then side by side.
bool starts_take_time(const FindingInput& facts) {
  const StageStats& starts = facts.stages[Stage::startup];
  const StageStats& parent_start = facts.stages[Stage::startup_parent];
  if (starts.count == 0 && parent_start.count == 0) return true;  // start times are unknown
  return facts.share(starts.wall / facts.config.loader.num_workers + parent_start.wall) >=
         kMinReportedShare;
}

std::optional<Candidate> workers_restarted(const FindingInput& facts) {
  const RunConfig& config = facts.config;
  if (config.loader.persistent_workers || config.loader.num_workers == 0) return std::nullopt;
  if (find_framework(facts.record).keeps_workers) return std::nullopt;
  if (facts.share(Why::epoch) < kMinReportedShare || !starts_take_time(facts)) return std::nullopt;
  return Candidate{fmt::format("each epoch starts new workers and has no batches ready: {} of the "
                               "time{}",
                               format_percent(facts.share(Why::epoch)), start_words(facts)),
                   {{{"persistent-workers", "true"}}},
                   loader_words(facts.record, {"persistent_workers=True"})};
}

}  // namespace loaderscope
