// Known limits of this machine: its cores at the measured CPU time per sample, the link, and the
// results of probe.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/contention.h"
#include "analysis/machine_ceilings.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "report/table_parts.h"

namespace loaderscope {
namespace {

// A program's own threads, as PyTorch's pool that spins between two steps, make no sample. What a
// program computes on the CPU takes cores as its loader does.
std::optional<Ceiling> making_ceiling(const RunRecord& record, const Analysis& analysis,
                                      double rate, double all_cpu) {
  double launching = 0;
  Nanos window = 0;
  for (const RankRecord& rank : record.ranks) {
    launching += seconds(rank.stages[Stage::launch].cpu);
    window = std::max(window, rank.window());
  }
  const double cpu = seconds(cpu_of_stages(record)) - launching;
  if (cpu <= 0 || window <= 0) return {};
  const double threads = (all_cpu - cpu - launching) / seconds(window);
  const double cores = cores_of_job(record), each = cpu / static_cast<double>(analysis.samples);
  std::string what = fmt::format("{} at {} of CPU time to make a sample", format_cores(cores),
                                 format_duration(std::llround(each * 1e9)));
  if (threads >= 1)
    what += fmt::format(", were {} not taken by other threads (torch.set_num_threads)",
                        format_cores(threads));
  return Ceiling{"cores", what, cores / each, rate * each / cores};
}

std::optional<Ceiling> cores_ceiling(const RunRecord& record, const Analysis& analysis,
                                     double rate) {
  const double cpu = value_of(record.metrics, metric::process_cpu_s).value_or(0);
  constexpr double kMax = 9e9;  // seconds that can be shown
  const double cores = cores_of_job(record);
  if (cpu <= 0 || cpu >= kMax || cores <= 0) return {};
  if (record.config.program.command.given && has_gpu(record))
    return making_ceiling(record, analysis, rate, cpu);
  const double each = cpu / static_cast<double>(analysis.samples);
  const std::string what = fmt::format("{} at {} of CPU time per sample", format_cores(cores),
                                       format_duration(std::llround(each * 1e9)));
  const double most = cores / each;
  return Ceiling{"cores", what, most, rate / most};
}

// Returns the ceiling of a simulated link. The configuration does not contain the rate of a real
// link.
std::optional<Ceiling> link_ceiling(const RunRecord& record, double rate) {
  if (!record.simulated) return {};
  const RunConfig& config = record.config;
  const StageStats copies = job_stages(record)[Stage::h2d];
  const double delivered = per_second(record, &RankRecord::delivered_bytes).value_or(0);
  if (copies.bytes == 0 || delivered <= 0 || config.declared_cost(Stage::h2d) != nullptr) return {};
  const bool pageable = config.loader.memory == MemoryMode::pageable;
  const double speed =
      pageable ? config.trainer.link.value.pageable : config.trainer.link.value.pinned;
  const std::string what = fmt::format(
      "{} at {}", record.ranks.size() == 1 ? "the link" : "the links", format_byte_rate(speed));
  const double most = speed * static_cast<double>(record.ranks.size()) * rate / delivered;
  return Ceiling{"link", what, most, rate / most};
}

}  // namespace

std::vector<Ceiling> list_ceilings(const RunRecord& record, const Analysis& analysis) {
  const double rate = per_second(record, &RankRecord::samples).value_or(0);
  if (rate <= 0 || analysis.samples == 0) return {};
  std::vector<Ceiling> ceilings;
  for (const auto& ceiling : {cores_ceiling(record, analysis, rate), link_ceiling(record, rate)}) {
    if (ceiling) ceilings.push_back(*ceiling);
  }
  for (const MachineCeiling& each : machine_ceilings(record))
    ceilings.push_back({each.name, each.what, each.samples_per_s, each.reached});
  return ceilings;
}

std::string probed_line(const RunRecord& record) { return probed_words(machine_ceilings(record)); }

// "At most 41,519 samples/s by the link at 25.0 GB/s (2.2 % reached)"
std::string ceiling_line(const RunRecord& record, const Analysis& analysis) {
  std::string text;
  for (const Ceiling& each : list_ceilings(record, analysis)) {
    text += fmt::format("{}{} samples/s by {} ({} reached)", text.empty() ? "At most " : "; ",
                        format_rate(each.samples_per_s), each.what, format_percent(each.reached));
  }
  return text;
}

}  // namespace loaderscope
