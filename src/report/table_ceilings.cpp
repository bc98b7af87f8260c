// What this machine could give at most, where that is known: its cores at the measured CPU time per
// sample, and the link.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "report/table_parts.h"

namespace loaderscope {
namespace {

// "41,519 samples/s by the link at 25.0 GB/s (2.2 % reached)"
std::string ceiling(double most, const std::string& what, double reached) {
  return fmt::format("{} samples/s by {} ({} reached)", show_rate(most), what,
                     show_percent(reached / most));
}

std::string of_cores(const RunRecord& record, const Analysis& analysis, double reached) {
  const double cpu = value_of(record.metrics, "process.cpu_s").value_or(0);
  constexpr double kMost = 9e9;  // seconds that can be shown
  if (cpu <= 0 || cpu >= kMost || record.machine.cores <= 0) return "";
  const double each = cpu / static_cast<double>(analysis.samples);
  const std::string what = fmt::format("{:g} {} at {} of CPU time per sample", record.machine.cores,
                                       record.machine.cores == 1 ? "core" : "cores",
                                       show_duration(std::llround(each * 1e9)));
  return ceiling(record.machine.cores / each, what, reached);
}

// Of a real link the configuration does not know the rate.
std::string of_link(const RunRecord& record, double reached) {
  if (!record.simulated) return "";
  const RunConfig& config = record.config;
  const StageStats copies = job_stages(record)[Stage::h2d];
  const double delivered = per_second(record, &RankRecord::delivered_bytes);
  if (copies.bytes == 0 || delivered <= 0 || config.cost_of(Stage::h2d) != nullptr) return "";
  const bool pageable = config.memory == MemoryMode::pageable;
  const double rate = pageable ? config.link.value.pageable : config.link.value.pinned;
  const std::string what = fmt::format(
      "{} at {}", record.ranks.size() == 1 ? "the link" : "the links", show_byte_rate(rate));
  const double most = rate * static_cast<double>(record.ranks.size()) * reached / delivered;
  return ceiling(most, what, reached);
}

}  // namespace

std::string ceiling_line(const RunRecord& record, const Analysis& analysis) {
  const double reached = per_second(record, &RankRecord::samples);
  if (reached <= 0 || analysis.samples == 0) return "";
  const std::string cores = of_cores(record, analysis, reached), link = of_link(record, reached);
  if (cores.empty() && link.empty()) return "";
  return "ceiling: " + cores + (cores.empty() || link.empty() ? "" : "; ") + link;
}

}  // namespace loaderscope
