// A comparison for people: what became of it, whether it matters, and the evidence.
#include <utility>

#include "report/compare_text.h"
#include "report/kinds.h"
#include "report/text_report.h"
#include "report/text_table.h"

namespace loaderscope::compare {
namespace {

LineTone outcome_tone(Outcome verdict) {
  switch (verdict) {
    case Outcome::worse:
      return LineTone::bad;
    case Outcome::better:
    case Outcome::same:
      return LineTone::good;
    case Outcome::cannot_tell:
      break;
  }
  return LineTone::warning;
}

void add_differences(TextReportBuilder& screen, const ComparisonResult& judgement) {
  TextTable table("lrrrll", kCellNames);
  for (const Difference& one : judgement.differences) table.add(difference_cells(one));
  screen.table(LinePriority::evidence, table);
}

void add_results(TextReportBuilder& screen, const Comparison& comparison) {
  TextTable table("lrrr", kCellNamesOfResults);
  const auto rows = cells_of_results(comparison);
  for (const std::vector<std::string>& row : rows) table.add(row);
  if (!rows.empty()) screen.table(LinePriority::evidence, table);
}

}  // namespace

void write_comparison_text(TextReport& reading, const Comparison& comparison, const ReportStyle&) {
  const ComparisonResult judgement = judge(comparison);
  TextReportBuilder& screen = reading.body;
  screen.headline(answer_line(comparison, judgement), outcome_tone(judgement.verdict));
  screen.line(LinePriority::needed, settings_line(comparison));
  screen.line(LinePriority::needed, memory_line(judgement));
  for (const std::string& line : acceptance_lines(comparison, judgement))
    screen.line(LinePriority::needed, line);
  screen.line(LinePriority::advice, matters_line(judgement));
  const bool is_decided =
      judgement.verdict == Outcome::worse || judgement.verdict == Outcome::better;
  if (is_decided) screen.line(LinePriority::advice, undecided_line(judgement));
  screen.line(LinePriority::advice, arms_line(comparison, judgement));
  if (comparison.anchor) screen.line(LinePriority::advice, anchor_line(*comparison.anchor));
  screen.line(LinePriority::evidence, noise_line(judgement));
  if (judgement.pairs > 0) add_differences(screen, judgement);
  if (comparison.is_of_results) add_results(screen, comparison);
  screen.line(LinePriority::evidence, counts_line(judgement));
  for (const std::string& note : comparison.notes) screen.note(LinePriority::detail, note);
  reading.more = "more with -vv: notes";
}

}  // namespace loaderscope::compare
