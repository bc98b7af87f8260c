#include "analysis/library_threads.h"

#include <algorithm>

namespace loaderscope {
namespace {

constexpr double kNoticed = 0.02;  // share of the time to make batches, without run-queue delay

bool reads(Stage stage) { return stage == Stage::read || stage == Stage::read_decompress; }

struct Total {                           // s
  double wall = 0, cpu = 0, queued = 0;  // time to make batches
  double sent = 0;                       // CPU time of sending them
  double computes_blocked = 0, reads_blocked = 0;

  double queued_share() const {
    constexpr double kMax = 0.95;
    return cpu > 0 ? std::min(queued / (cpu + queued), kMax) : 0;
  }
};

Total job_total(const RunRecord& record) {
  Total total;
  for (const RankRecord& rank : record.ranks) {
    total.sent += seconds(rank.stages[Stage::transport].cpu);
    for (const Stage stage : kMakingStages) {
      const StageStats& stats = rank.stages[stage];
      total.wall += seconds(stats.wall);
      total.cpu += seconds(stats.cpu);
      total.queued += seconds(stats.queued);
      (reads(stage) ? total.reads_blocked : total.computes_blocked) += seconds(stats.blocked());
    }
  }
  return total;
}

// Other threads of the processes that make batches. A feeder thread, which sends them, has a stage
// of its own.
std::optional<double> counted(const RunRecord& record, const Total& total) {
  const auto cores = value_of(record.metrics, metric::making_library_cores);
  if (!cores) return std::nullopt;
  const double cpu = *cores * total.wall - total.sent;
  return cpu >= kNoticed * (total.wall - total.queued) ? cpu : 0;
}

}  // namespace

// Stages that compute come first: a thread that is blocked in a read mostly waits for a storage.
PerStage<LibraryTime> library_threads(const RunRecord& record) {
  PerStage<LibraryTime> threads;
  const Total total = job_total(record);
  double left = counted(record, total).value_or(0);
  if (left <= 0) return threads;
  const auto take = [&](double blocked) {
    const double cores =
        blocked > 0 ? std::min(left / blocked, record.config.declared.cores.value) : 0;
    left = std::max(0.0, left - cores * blocked);
    return LibraryTime{cores, total.queued_share()};
  };
  const LibraryTime computing = take(total.computes_blocked);
  const LibraryTime reading = take(total.reads_blocked);
  for (const Stage stage : kMakingStages) threads[stage] = reads(stage) ? reading : computing;
  return threads;
}

std::optional<double> cpu_of_libraries(const RunRecord& record) {
  const Total total = job_total(record);
  if (!counted(record, total)) return std::nullopt;
  const PerStage<LibraryTime> threads = library_threads(record);
  return threads[Stage::decode].cpu * total.computes_blocked +
         threads[Stage::read].cpu * total.reads_blocked;
}

}  // namespace loaderscope
