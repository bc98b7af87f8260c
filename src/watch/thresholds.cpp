// The thresholds for a running job: one row each.
#include <fmt/format.h>

#include <algorithm>

#include "watch/watch.h"

namespace loaderscope::watch {
namespace {

ThresholdValue worst_gpu(const Watch& watch, double (*share)(const WatchedGpu&)) {
  const bool is_known = std::any_of(watch.gpus.begin(), watch.gpus.end(),
                                    [](const WatchedGpu& gpu) { return gpu.is_of_job; });
  ThresholdValue value_or_reason;
  for (const WatchedGpu& gpu : watch.gpus) {
    if (is_known && !gpu.is_of_job) continue;
    value_or_reason.value =
        value_or_reason.value ? std::min(*value_or_reason.value, share(gpu)) : share(gpu);
  }
  if (!value_or_reason.value) value_or_reason.why_not = "no GPU is seen here";
  return value_or_reason;
}

ThresholdValue gpu_busy(const Watch& watch) {
  return worst_gpu(watch, [](const WatchedGpu& gpu) { return gpu.busy; });
}

ThresholdValue gpu_memory(const Watch& watch) {
  return worst_gpu(watch, [](const WatchedGpu& gpu) {
    return gpu.memory > 0 ? gpu.memory_used / gpu.memory : 0;
  });
}

ThresholdValue batch_fetch(const Watch& watch) {
  constexpr double kFinest = 0.06;  // seconds: coarser looks cannot tell 50 ms
  if (!watch.waits.is_known) return {{}, "not known from outside here"};
  if (watch.waits.waits == 0) return {0.0, ""};
  if (watch.waits.every_s > kFinest)
    return {{}, fmt::format("looks every {:.0f} ms are too coarse", watch.waits.every_s * 1e3)};
  return {watch.waits.mean_s, ""};
}

ThresholdValue worker_cpu(const Watch& watch) {
  if (watch.workers_seen == 0) return {{}, "no worker processes"};
  if (watch.workers_watched_s <= 0) return {{}, "workers came and went too quickly to be seen"};
  return {watch.workers.cpu(), ""};
}

ThresholdValue disk_busy(const Watch& watch) {
  if (watch.machine.disk.empty()) return {{}, "no local disk is shown here"};
  return {watch.machine.disk_busy, ""};
}

ThresholdValue cache_hits(const Watch& watch) {
  constexpr double kMin = 64 << 10;  // bytes per second: less are messages, and no data
  if (watch.workers_seen == 0) return {{}, "no worker processes"};
  if (watch.worker_read_per_s < kMin)
    return {{}, "workers hardly read by calls (mmap and sockets are not counted)"};
  return {std::clamp(1 - watch.worker_storage_per_s / watch.worker_read_per_s, 0.0, 1.0), ""};
}

ThresholdValue map_cache(const Watch& watch) {
  if (!watch.map_results) return {{}, "what files the job has mapped cannot be seen"};
  const MapResults& results = *watch.map_results;
  const std::int64_t all = results.found + results.made;
  if (all == 0) return {{}, "no result of datasets.map is mapped (cache-*.arrow)"};
  return {static_cast<double>(results.found) / static_cast<double>(all), ""};
}

}  // namespace

std::span<const Threshold> thresholds() {
  static constexpr Threshold kRows[] = {
      {{"gpu-busy", "Share of the time in which a kernel ran, the least busy GPU (NVML)."},
       "%",
       0.80,
       true,
       gpu_busy},
      {{"gpu-memory", "Memory of the GPU in use, the emptiest GPU (NVML)."},
       "%",
       0.60,
       true,
       gpu_memory},
      {{"batch-fetch",
        "Mean time that the trainer waits for a batch, an estimate from polls. The sources are "
        "/proc/PID/syscall and schedstat."},
       "ms",
       0.050,
       false,
       batch_fetch},
      {{"worker-cpu", "CPU time of a worker by wall time, the mean (/proc/PID/stat)."},
       "%",
       0.80,
       false,
       worker_cpu},
      {{"disk-busy",
        "Share of the time with a request under way, the busiest disk (/proc/diskstats)."},
       "%",
       0.70,
       false,
       disk_busy},
      {{"page-cache-hit",
        "Of the bytes that workers read by calls, those that no storage had to give "
        "(/proc/PID/io)."},
       "%",
       0.95,
       true,
       cache_hits},
      {{"map-cache-hit",
        "Results of datasets.map in use that are older than the job. They are from the cache of "
        "datasets, not the page cache (/proc/PID/maps)."},
       "%",
       0.95,
       true,
       map_cache},
  };
  return kRows;
}

std::vector<ThresholdOutcome> judge_thresholds(const Watch& watch) {
  std::vector<ThresholdOutcome> outcomes;
  for (const Threshold& row : thresholds()) {
    ThresholdOutcome outcome{row.row.name, row.tell(watch)};
    if (outcome.value_or_reason.value)
      outcome.is_met = row.is_least ? *outcome.value_or_reason.value >= row.limit
                                    : *outcome.value_or_reason.value <= row.limit;
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace loaderscope::watch
