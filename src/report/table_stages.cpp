// The stages for people, as their threads saw them.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "report/table_parts.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

constexpr double kNoteworthy = 0.01;   // share of the time of all threads
constexpr std::size_t kMaxLength = 4;  // stages

std::string share_text(Nanos part, Nanos whole) {
  if (whole <= 0) return "";
  return fmt::format("{:.0f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

// Returns the rate of a stage. Transport has none: it may pass a batch without a copy, so the
// number of moved bytes is unknown.
std::string rate_text(Stage stage, const StageStats& stats, const std::optional<double>& copies) {
  if (stats.bytes == 0 || stats.wall == 0 || stage == Stage::transport ||
      stage == Stage::transport_recv)
    return "";
  if (stage == Stage::h2d) return copies ? format_byte_rate(*copies) : "";
  return format_byte_rate(static_cast<double>(stats.bytes) / seconds(stats.wall));
}

// Returns true for stages on a thread of the host.
bool has_thread(Stage stage) {
  return stage != Stage::compute && stage != Stage::gpu_augment && stage != Stage::idle;
}

std::vector<std::string> stage_cells(Stage stage, const StageStats& stats,
                                     const std::optional<double>& copies) {
  const Histogram& times = stats.wall_histogram;
  const bool thread = has_thread(stage) && has_readings(stage, stats);
  return {std::string(shown_name(name_of(stage))),
          format_count(stats.count),
          format_duration(stats.wall / stats.count),
          format_duration(times.quantile(0.5)),
          format_duration(times.quantile(0.99)),
          format_duration(times.max()),
          thread ? share_text(stats.cpu, stats.wall) : "",
          thread && stats.queued > 0 ? share_text(stats.queued, stats.wall) : "",
          thread && stats.blocked() > 0 ? share_text(stats.blocked(), stats.wall) : "",
          rate_text(stage, stats, copies)};
}

std::vector<Nanos> stage_walls(const PerStage<StageStats>& stages, bool brief) {
  std::vector<Nanos> walls;
  for (const auto& word : Words<Stage>::table()) {
    if (brief && !has_thread(word.value)) continue;
    walls.push_back(stages[word.value].wall);
  }
  std::sort(walls.begin(), walls.end(), std::greater<>());
  return walls;
}

}  // namespace

bool has_readings(Stage stage, const StageStats& stats) {
  return stage != Stage::h2d || stats.cpu > 0 || stats.queued > 0;
}

StageRows stage_table(const RunRecord& record, bool brief) {
  const PerStage<StageStats> stages = job_stages(record);
  const std::optional<double> copies = copy_rate(record);
  const std::vector<Nanos> walls = stage_walls(stages, brief);
  const Nanos sum = std::accumulate(walls.begin(), walls.end(), Nanos{0});
  const Nanos longest = walls[std::min(kMaxLength, walls.size()) - 1];
  StageRows result{TextTable("lrrrrrrrrr", {"stage", "count", "mean", "p50", "p99", "max", "CPU",
                                            "no core", "blocked", "rate"}),
                   {}};
  for (const auto& word : Words<Stage>::table()) {
    const StageStats& stats = stages[word.value];
    if (stats.count == 0) continue;
    const bool is_small = static_cast<double>(stats.wall) < kNoteworthy * static_cast<double>(sum);
    if (brief && (!has_thread(word.value) || is_small)) continue;
    result.table.add(stage_cells(word.value, stats, copies));
    result.is_long.push_back(stats.wall >= longest);
  }
  return result;
}

}  // namespace loaderscope
