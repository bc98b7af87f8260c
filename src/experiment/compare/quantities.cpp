#include "experiment/compare/quantities.h"

#include <algorithm>
#include <array>

#include "analysis/totals.h"

namespace loaderscope::compare {
namespace {

double per_sample(double amount, const Analysis& analysis) {
  return amount / static_cast<double>(analysis.samples);
}

std::optional<double> rate(const RunRecord&, const Analysis& analysis) {
  return analysis.samples_per_s.mean;
}

std::optional<double> busy(const RunRecord&, const Analysis& analysis) {
  return analysis.has_busy ? std::optional(analysis.busy.mean) : std::nullopt;
}

std::optional<double> cpu(const RunRecord& record, const Analysis& analysis) {
  const std::optional<double> all = value_of(record.metrics, metric::process_cpu_s);
  return all ? std::optional(per_sample(*all, analysis)) : std::nullopt;
}

std::optional<double> worker_memory(const RunRecord& record, const Analysis&) {
  const std::optional<double> bytes = value_of(record.metrics, metric::memory_worker_private_bytes);
  return bytes ? bytes : value_of(record.metrics, metric::memory_resident_bytes);
}

std::optional<double> first_batch(const RunRecord&, const Analysis& analysis) {
  return seconds(analysis.first_batch_wall);
}

}  // namespace

std::span<const QuantityRow> quantity_table() {
  constexpr bool kMoreIsWorse = true, kDecides = true;
  static const std::array<QuantityRow, 5> rows = {{
      {{"samples-per-s", "Samples per second of all ranks."},
       "1/s",
       Scale::ratio,
       false,
       kDecides,
       rate},
      {{"cpu-per-sample", "CPU time of all threads and processes, for each sample."},
       "s",
       Scale::ratio,
       kMoreIsWorse,
       kDecides,
       cpu},
      {{"busy", "Share of the window in which the device computes."},
       "1",
       Scale::share,
       false,
       kDecides,
       busy},
      {{"memory",
        "Size of a worker process's own memory, or of the whole process without workers."},
       "bytes",
       Scale::ratio,
       kMoreIsWorse,
       false,
       worker_memory},
      {{"first-batch", "Time from the first request to the first batch."},
       "s",
       Scale::ratio,
       kMoreIsWorse,
       false,
       first_batch},
  }};
  return rows;
}

const std::vector<Stage>& compared_stages() {
  static const std::vector<Stage> stages = {
      Stage::read,   Stage::read_decompress, Stage::decode,         Stage::augment, Stage::collate,
      Stage::opaque, Stage::transport,       Stage::transport_recv, Stage::pin,     Stage::h2d};
  return stages;
}

Quantities quantities_of(const RunRecord& record, const Analysis& analysis) {
  Quantities all;
  if (analysis.samples <= 0) return all;
  for (const QuantityRow& row : quantity_table()) {
    const std::optional<double> value = row.of(record, analysis);
    if (value) all.emplace_back(row.row.name, *value);
  }
  const PerStage<StageStats> stages = job_stages(record);
  for (const Stage stage : compared_stages()) {
    const StageStats& stats = stages[stage];
    if (stats.count == 0) continue;
    const std::string name(name_of(stage));
    all.emplace_back(name, per_sample(seconds(stats.cpu), analysis));
    all.emplace_back(name + std::string(kWall),
                     per_sample(seconds(stats.wall - stats.queued), analysis));
  }
  for (const auto& word : Words<Cause>::table()) {
    all.emplace_back(std::string(kWaitFor) + std::string(word.name),
                     share_of(analysis.account.stall[word.value], analysis.account));
  }
  return all;
}

std::optional<double> value_of(const Quantities& quantities, std::string_view name) {
  const auto found = std::find_if(quantities.begin(), quantities.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == quantities.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace loaderscope::compare
