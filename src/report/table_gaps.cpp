// Gaps of the GPU in a trace, with finer causes than the account, and the places to look at.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/gap_kinds.h"
#include "analysis/wording.h"
#include "loaderscope/run_config.h"
#include "report/table_parts.h"

namespace loaderscope {
namespace {

using traces::GapFact;
using traces::GapKind;

struct GapLine {
  GapKind kind{};
  double seconds = 0;
};

double fact(const RunRecord& record, GapKind kind, GapFact what) {
  return value_of(record.metrics, traces::metric_name(kind, what)).value_or(0);
}

std::vector<GapLine> gap_lines(const RunRecord& record) {
  std::vector<GapLine> lines;
  for (std::size_t k = 0; k < traces::kGapKinds; ++k) {
    const auto kind = static_cast<GapKind>(k);
    if (const double seconds = fact(record, kind, GapFact::seconds); seconds > 0)
      lines.push_back({kind, seconds});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const GapLine& a, const GapLine& b) { return a.seconds > b.seconds; });
  return lines;
}

std::string spelled(double seconds) { return format_duration(std::llround(1e9 * seconds)); }

std::string place_of_longest(const RunRecord& record, GapKind kind) {
  const double step = fact(record, kind, GapFact::step);
  std::string text = fmt::format("at {:.6f} s", fact(record, kind, GapFact::at));
  return step >= 0 ? text + fmt::format(", step {:.0f}", step) : text;
}

}  // namespace

TextTable gap_table(const RunRecord& record) {
  TextTable table("lrrrrl", {device_kind(record.config.trainer.device.value) == DeviceKind::program
                                 ? "waits"
                                 : "gaps of the GPU",
                             "time", "noticed", "steps", "longest", "where"});
  for (const GapLine& line : gap_lines(record)) {
    const double gaps = fact(record, line.kind, GapFact::gaps);
    table.add({std::string(gap_row(line.kind).row.name), spelled(line.seconds),
               fmt::format("{:.0f}", gaps),
               fmt::format("{:.0f}", fact(record, line.kind, GapFact::steps)),
               gaps > 0 ? spelled(fact(record, line.kind, GapFact::longest)) : "",
               gaps > 0 ? place_of_longest(record, line.kind) : ""});
  }
  return table;
}

}  // namespace loaderscope
