// A comparison as the summary of a job, and as the one comment on a pull request. The author may be
// a stranger, so text that may be the author's is shown as code.
#include <fmt/format.h>

#include "experiment/compare/gate.h"
#include "report/compare_text.h"
#include "report/kinds.h"
#include "report/markup.h"

namespace loaderscope::compare {
namespace {

std::string_view verdict_mark(const ComparisonResult& judgement, Gate gate) {
  if (gate == Gate::fails) return ":red_circle:";
  if (judgement.verdict == Outcome::cannot_tell) return ":white_circle:";
  return judgement.verdict == Outcome::worse ? ":yellow_circle:" : ":green_circle:";
}

void add_change_table(MarkdownPage& page, const ComparisonResult& judgement) {
  if (judgement.pairs == 0 || judgement.differences.empty()) return;
  std::vector<std::vector<std::string>> rows;
  for (const Difference& one : judgement.differences) rows.push_back(difference_cells(one));
  page.table("lrrrrl", kCellNames, rows);
}

}  // namespace

void summarize_comparison(MarkdownPage& page, const AnyResult& result) {
  constexpr std::size_t kReserve = 1024;  // room for the parts that are always present
  const Comparison& comparison = *result.comparison;
  const ComparisonResult judgement = judge(comparison);
  const GateAnswer answer = decide_gate(comparison, judgement);
  page.limit(kMaxComment - kReserve);
  page.raw(fmt::format("{}\n", kCommentMarker));
  page.raw(fmt::format("**{} {}**\n\n", verdict_mark(judgement, answer.gate),
                       markdown_text(answer_line(comparison, judgement))));
  page.quote("", settings_line(comparison));
  page.paragraph(memory_line(judgement));
  for (const std::string& line : acceptance_lines(comparison, judgement)) page.quote("", line);
  page.paragraph(matters_line(judgement));
  add_change_table(page, judgement);
  page.paragraph(counts_line(judgement));
  page.quote("", arms_line(comparison, judgement));
  page.paragraph(noise_line(judgement));
  if (!comparison.reproduce.empty()) page.command("Reproduce", comparison.reproduce);
  for (const std::string& note : comparison.notes) page.quote("- ", note);
}

}  // namespace loaderscope::compare
