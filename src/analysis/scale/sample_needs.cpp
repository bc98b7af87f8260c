#include "analysis/scale/sample_needs.h"

#include <algorithm>

namespace loaderscope {

SampleNeeds needs_of_sample(const RunRecord& record) {
  SampleNeeds needs;
  double samples = 0;
  for (const RankRecord& rank : record.ranks) {
    samples += static_cast<double>(rank.samples);
    needs.stored_bytes += static_cast<double>(rank.read_bytes);
    for (const auto& word : Words<Stage>::table()) {
      const StageStats& stage = rank.stages[word.value];
      const bool starts = word.value == Stage::startup || word.value == Stage::startup_parent;
      const bool is_of_device = word.value == Stage::compute || word.value == Stage::h2d;
      if (starts || is_of_device || word.value == Stage::idle) continue;
      const auto cpu = static_cast<double>(stage.cpu);
      needs.cpu_ns += cpu;
      if (word.value == Stage::decode) needs.decode_cpu_ns += cpu;
      if (word.value == Stage::read) needs.read_waits_ns += static_cast<double>(stage.blocked());
      const bool is_workers =
          std::find(kMakingStages.begin(), kMakingStages.end(), word.value) != kMakingStages.end();
      if (is_workers) needs.worker_ns += cpu + static_cast<double>(stage.blocked());
    }
  }
  if (samples <= 0) return {};
  for (double* part : {&needs.stored_bytes, &needs.cpu_ns, &needs.decode_cpu_ns, &needs.worker_ns,
                       &needs.read_waits_ns})
    *part /= samples;
  return needs;
}

double mean_step_compute(const RunRecord& record) {
  double wall = 0, count = 0;
  for (const RankRecord& rank : record.ranks) {
    wall += static_cast<double>(rank.stages[Stage::compute].wall);
    count += static_cast<double>(rank.stages[Stage::compute].count);
  }
  return count > 0 ? wall / count : 0;
}

}  // namespace loaderscope
