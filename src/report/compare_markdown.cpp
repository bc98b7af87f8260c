// A comparison as the summary of a job, and as the one comment on a pull request. The author may be
// a stranger, so text that may be the author's is shown as code.
#include <fmt/format.h>

#include <sstream>

#include "experiment/compare/gate.h"
#include "report/compare_text.h"
#include "report/kinds.h"
#include "report/markup.h"

namespace loaderscope::compare {
namespace {

std::string_view mark_of(const ComparisonResult& judgement, Gate gate) {
  if (gate == Gate::fails) return ":red_circle:";
  if (judgement.verdict == Outcome::cannot_tell) return ":white_circle:";
  return judgement.verdict == Outcome::worse ? ":yellow_circle:" : ":green_circle:";
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + in_markdown(cell) + " |";
  return row + "\n";
}

std::string table_of(const ComparisonResult& judgement) {
  if (judgement.pairs == 0 || judgement.differences.empty()) return "";
  std::string table = row_of(kCellNames) + "|---|---:|---:|---:|---:|---|\n";
  for (const Difference& one : judgement.differences) table += row_of(cells_of(one));
  return table + "\n";
}

// Parts of the comment, as far as there is room. GitHub rejects a comment that is too long.
class Comment {
 public:
  explicit Comment(std::size_t room) : room_(room) {}

  void add(const std::string& text) {
    if (text_.size() + text.size() > room_)
      left_out_ = true;
    else
      text_ += text;
  }
  void line(const std::string& text) {
    if (!text.empty()) add(in_markdown(text) + "\n\n");
  }
  void quote(std::string_view label, const std::string& text) {
    if (!text.empty()) add(std::string(label) + code_span(text) + "\n\n");
  }
  std::string text() const {
    return text_ + (left_out_ ? "What is longer than a comment stands in the JSON.\n" : "");
  }

 private:
  std::size_t room_;
  std::string text_;
  bool left_out_ = false;
};

}  // namespace

void write_comparison_markdown(std::ostream& out, const Comparison& comparison) {
  constexpr std::size_t kReserve = 1024;  // room for the parts that are always present
  const ComparisonResult judgement = judge(comparison);
  const GateAnswer answer = gate_of(comparison, judgement);
  Comment comment(kMaxComment - kReserve);
  comment.add(fmt::format("{}\n", kCommentMarker));
  comment.add(fmt::format("**{} {}**\n\n", mark_of(judgement, answer.gate),
                          in_markdown(answer_line(comparison, judgement))));
  comment.quote("", settings_line(comparison));
  comment.line(memory_line(judgement));
  for (const std::string& line : acceptance_lines(comparison, judgement)) comment.quote("", line);
  comment.line(matters_line(judgement));
  comment.add(table_of(judgement));
  comment.line(counts_line(judgement));
  comment.quote("", arms_line(comparison, judgement));
  comment.line(noise_line(judgement));
  if (!comparison.reproduce.empty())
    comment.add("Reproduce:\n" + shell_block(comparison.reproduce));
  for (const std::string& note : comparison.notes) comment.quote("note: ", note);
  out << comment.text();
}

}  // namespace loaderscope::compare
