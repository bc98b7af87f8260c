// A comparison for people: what became of it, whether it matters, and the evidence.
#include <utility>

#include "report/compare_text.h"
#include "report/kinds.h"
#include "report/screen.h"
#include "report/text_table.h"

namespace loaderscope::compare {
namespace {

Tone tone_of(Outcome verdict) {
  switch (verdict) {
    case Outcome::worse:
      return Tone::bad;
    case Outcome::better:
    case Outcome::same:
      return Tone::good;
    case Outcome::cannot_tell:
      break;
  }
  return Tone::warning;
}

void add_differences(Screen& screen, const Judgement& judgement) {
  TextTable table("lrrrll", kCellNames);
  for (const Difference& one : judgement.differences) table.add(cells_of(one));
  screen.table(Worth::evidence, table);
}

void add_results(Screen& screen, const Comparison& comparison) {
  TextTable table("lrrr", kCellNamesOfResults);
  const auto rows = cells_of_results(comparison);
  for (const std::vector<std::string>& row : rows) table.add(row);
  if (!rows.empty()) screen.table(Worth::evidence, table);
}

}  // namespace

void tell_comparison(Reading& reading, const Comparison& comparison, const ReportStyle&) {
  const Judgement judgement = judge(comparison);
  Screen& screen = reading.body;
  screen.headline(answer_line(comparison, judgement), tone_of(judgement.verdict));
  screen.line(Worth::needed, settings_line(comparison));
  screen.line(Worth::needed, memory_line(judgement));
  for (const std::string& line : acceptance_lines(comparison, judgement))
    screen.line(Worth::needed, line);
  screen.line(Worth::advice, matters_line(judgement));
  const bool told = judgement.verdict == Outcome::worse || judgement.verdict == Outcome::better;
  if (told) screen.line(Worth::advice, told_apart_line(judgement));
  screen.line(Worth::advice, arms_line(comparison, judgement));
  if (comparison.anchor) screen.line(Worth::advice, anchor_line(*comparison.anchor));
  screen.line(Worth::evidence, noise_line(judgement));
  if (judgement.pairs > 0) add_differences(screen, judgement);
  if (comparison.is_of_results) add_results(screen, comparison);
  screen.line(Worth::evidence, counts_line(judgement));
  for (const std::string& note : comparison.notes) screen.line(Worth::detail, "note: " + note);
  reading.more = "more with --verbose: notes";
}

}  // namespace loaderscope::compare
