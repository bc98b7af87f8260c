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

std::optional<double> sum_ranks(const RunRecord& record, std::int64_t RankRecord::*count) {
  double sum = 0;
  for (const RankRecord& rank : record.ranks) sum += static_cast<double>(rank.*count);
  return sum;
}

template <Stage stage>
std::optional<double> executions(const RunRecord& record) {
  const StageStats stats = job_stages(record)[stage];
  return stats.count > 0 ? std::optional(static_cast<double>(stats.count)) : std::nullopt;
}

std::optional<double> read_bytes(const RunRecord& record) {
  return sum_ranks(record, &RankRecord::read_bytes);
}

std::optional<double> delivered_bytes(const RunRecord& record) {
  return sum_ranks(record, &RankRecord::delivered_bytes);
}

std::optional<double> sent_bytes(const RunRecord& record) {
  const StageStats stats = job_stages(record)[Stage::transport];
  return stats.bytes > 0 ? std::optional(static_cast<double>(stats.bytes)) : std::nullopt;
}

template <std::int64_t WorkCounts::*count>
std::optional<double> work(const RunRecord& record) {
  std::int64_t sum = 0;
  for (const RankRecord& rank : record.ranks) sum += rank.work.*count;
  return sum > 0 ? std::optional(static_cast<double>(sum)) : std::nullopt;
}

std::optional<double> skipped(const RunRecord& record) {
  return static_cast<double>(record.skipped.samples);
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

Quantities measure_quantities(const RunRecord& record, const Analysis& analysis) {
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
                     window_share(analysis.account.stall[word.value], analysis.account));
  }
  return all;
}

std::optional<double> value_of(const Quantities& quantities, std::string_view name) {
  const auto found = std::find_if(quantities.begin(), quantities.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == quantities.end() ? std::nullopt : std::optional(found->second);
}

std::span<const CountRow> count_table() {
  constexpr bool kShown = false;  // to be alike, by two runs
  static const std::array<CountRow, 14> rows = {{
      {{"bytes-read", "Stored bytes of the samples."}, read_bytes},
      {{"reads", "Times that a stored sample was read."}, executions<Stage::read>},
      {{"opens", "Files that were opened for the samples."}, work<&WorkCounts::opened>, kShown},
      {{"requests", "Reads that the kernel was asked for."}, work<&WorkCounts::requests>, kShown},
      {{"allocations", "Number of memory allocations by C++ code that makes samples."},
       work<&WorkCounts::allocations>,
       kShown},
      {{"decodes", "Number of decoded images."}, executions<Stage::decode>},
      {{"augmentations", "Times that samples were augmented."}, executions<Stage::augment>},
      {{"collations", "Batches that were put together."}, executions<Stage::collate>},
      {{"opaque-calls", "Samples, or batches, made by what cannot be seen inside."},
       executions<Stage::opaque>},
      {{"pins", "Number of batches copied into page-locked memory."}, executions<Stage::pin>},
      {{"copies", "Copies to the device."}, executions<Stage::h2d>},
      {{"bytes-sent", "Bytes that worker processes send."}, sent_bytes},
      {{"bytes-delivered", "Bytes that the device takes."}, delivered_bytes},
      {{"samples-skipped", "Number of samples that were skipped because they are unusable."},
       skipped},
  }};
  return rows;
}

Counts collect_counts(const RunRecord& record) {
  Counts counts;
  const double samples = sum_ranks(record, &RankRecord::samples).value_or(0);
  if (samples <= 0) return counts;
  for (const CountRow& row : count_table()) {
    const std::optional<double> count = row.of(record);
    if (count) counts.emplace_back(row.row.name, *count / samples);
  }
  for (const Metric& metric : record.metrics) {
    if (metric.is_exact) counts.emplace_back(metric.name, metric.value);
  }
  return counts;
}

bool follows_from_draws(std::string_view count) {
  const auto rows = count_table();
  return std::any_of(rows.begin(), rows.end(), [&](const CountRow& one) {
    return one.row.name == count && one.follows_from_draws;
  });
}

}  // namespace loaderscope::compare
