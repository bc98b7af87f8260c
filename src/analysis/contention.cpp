#include "analysis/contention.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "analysis/library_threads.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "loaderscope/run_config.h"

namespace loaderscope {

namespace {

constexpr double kStopped = 0.05;  // share of the time that the quota stopped the threads

}  // namespace

double stopped_by_quota(const RunRecord& record) {
  Nanos window = 0;
  for (const RankRecord& rank : record.ranks) window = std::max(window, rank.window());
  const double stopped = value_of(record.metrics, metric::host_throttled_s).value_or(0);
  return window > 0 ? std::min(1.0, stopped / seconds(window)) : 0;
}

bool is_held_by_quota(const RunRecord& record) { return stopped_by_quota(record) >= kStopped; }

std::optional<double> contention_of_others(const RunRecord& record) {
  const auto others = value_of(record.metrics, metric::host_other_cpu_s);
  const auto own = value_of(record.metrics, metric::process_cpu_s);
  // A CPU quota stops the threads of this program, so other programs may use all other cores.
  if (is_held_by_quota(record)) return std::nullopt;
  if (!others || !own || *others + *own <= 0) return std::nullopt;
  return *others / (*others + *own);
}

bool others_matter(const RunRecord& record) {
  return contention_of_others(record).value_or(0) >= kMuchOfOthers;
}

std::string describe_others(const RunRecord& record) {
  if (!others_matter(record)) return "";
  const std::vector<std::string> names = first_texts(record, metric::host_other_cpu_s, 2);
  const std::string named = names.empty() ? "" : fmt::format(" ({})", fmt::join(names, ", "));
  return format_percent(*contention_of_others(record)) + " of it because of other programs" + named;
}

Nanos cpu_of_stages(const RunRecord& record) {
  Nanos cpu = 0;
  for (const RankRecord& rank : record.ranks)
    for (const StageStats& stage : rank.stages) cpu += stage.cpu;
  return cpu;
}

// Returns the largest possible CPU time in s of threads of libraries: all cores, while a stage that
// computes is blocked. Without workers the caller is the trainer, so no training computes.
static double most_of_libraries(const RunRecord& record) {
  if (record.config.loader.num_workers > 0) return 0;
  double blocked = 0;
  for (const RankRecord& rank : record.ranks)
    for (const Stage stage : {Stage::decode, Stage::augment, Stage::collate})
      blocked += seconds(rank.stages[stage].blocked());
  return blocked * record.config.declared.cores;
}

double computing_threads(const RunRecord& record) {
  constexpr double kMinCount = 0.5;
  const auto cpu = value_of(record.metrics, metric::process_cpu_s);
  const bool on_gpu = has_gpu(record) || value_of(record.metrics, metric::gpu_h2d_s);
  if (device_kind(record.config.trainer.device.value) != DeviceKind::program || on_gpu || !cpu)
    return 0;
  Nanos computing = 0;
  for (const RankRecord& rank : record.ranks) computing += rank.stages[Stage::compute].wall;
  if (computing <= 0) return 0;
  const double libraries = cpu_of_libraries(record).value_or(most_of_libraries(record));
  const double training = *cpu - seconds(cpu_of_stages(record)) - libraries;
  const double threads = training / seconds(computing);
  return threads >= kMinCount ? threads : 0;
}

}  // namespace loaderscope
