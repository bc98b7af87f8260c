#include "predict/sample_needs.h"

#include <algorithm>

#include "analysis/library_threads.h"

namespace loaderscope {
namespace {

bool is_of_loader(Stage stage) {
  const bool is_of_device = stage == Stage::compute || stage == Stage::h2d;
  return !is_startup(stage) && !is_of_device && stage != Stage::idle;
}

double worker_time(const RankRecord& rank) {
  double ns = 0;
  for (const Stage stage : kMakingStages) {
    const StageStats& stats = rank.stages[stage];
    ns += static_cast<double>(stats.cpu + stats.blocked());
  }
  return ns;
}

}  // namespace

SampleNeeds needs_of_sample(const RunRecord& record) {
  SampleNeeds needs;
  double samples = 0;
  for (const RankRecord& rank : record.ranks) {
    if (rank.samples <= 0) continue;
    const auto of_rank = static_cast<double>(rank.samples);
    samples += of_rank;
    needs.stored_bytes += static_cast<double>(rank.read_bytes);
    for (const auto& word : Words<Stage>::table()) {
      if (!is_of_loader(word.value)) continue;
      const auto cpu = static_cast<double>(rank.stages[word.value].cpu);
      needs.cpu_ns += cpu;
      if (word.value == Stage::decode) needs.decode_cpu_ns += cpu;
    }
    needs.worker_ns = std::max(needs.worker_ns, worker_time(rank) / of_rank);
  }
  needs.cpu_ns += 1e9 * cpu_of_libraries(record).value_or(0);
  if (samples <= 0) return {};
  for (double* part : {&needs.stored_bytes, &needs.cpu_ns, &needs.decode_cpu_ns}) *part /= samples;
  return needs;
}

}  // namespace loaderscope
