// The default answer of compare: a verdict, the figures that decide it, and what to do next.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/wording.h"
#include "experiment/compare/gate.h"
#include "report/answer/answers.h"
#include "report/answer/compare_words.h"
#include "report/answer/plain_figures.h"
#include "report/compare_text.h"

namespace loaderscope::compare {
namespace {

constexpr std::size_t kMaxDifferences = 4;  // rows of the table
constexpr std::size_t kMaxNames = 4;        // limit of a list

// "FIRST SLOWER: b71e0dd Use RandomErasing (by Ada)"
std::string headline_of_bisection(const FirstSlower& found) {
  std::string text = fmt::format("FIRST SLOWER: {} {} (by {})", found.commit.commit,
                                 shown_text(found.commit.subject), shown_text(found.commit.author));
  if (found.others > 0)
    text += fmt::format(", or one of {} before it", plural(found.others, "commit"));
  return text;
}

// The rate, and then what has the verdict or decides it.
TextTable compared_table(const ComparisonResult& judgement) {
  TextTable table("lrrrl", {"", "A", "B", "change", ""});
  std::vector<const Difference*> shown;
  if (const Difference* rate = judgement.find("samples-per-s")) shown.push_back(rate);
  const bool is_decided =
      judgement.verdict == Outcome::worse || judgement.verdict == Outcome::better;
  for (const Difference& one : judgement.differences) {
    if (shown.size() == kMaxDifferences) break;
    const bool matters = is_decided ? one.verdict == judgement.verdict || &one == judgement.blamed()
                                    : one.row != nullptr && one.row->decides;
    if (matters && std::find(shown.begin(), shown.end(), &one) == shown.end())
      shown.push_back(&one);
  }
  for (const Difference* one : shown)
    table.add({name_for_people(*one), plain_value(*one, one->a), plain_value(*one, one->b),
               short_change(*one), verdict_word(*one)});
  return table;
}

std::string name_list(const ComparisonResult& judgement, Outcome verdict) {
  std::vector<std::string> names;
  for (const Difference& one : judgement.differences)
    if (one.verdict == verdict && names.size() < kMaxNames) names.push_back(name_for_people(one));
  return joined(names);
}

// "cannot tell: CPU per sample, memory. The same: waiting for read"
std::string describe_rest(const ComparisonResult& judgement) {
  const std::string open = name_list(judgement, Outcome::cannot_tell),
                    same = name_list(judgement, Outcome::same);
  std::string text = open.empty() ? "" : "cannot tell: " + open;
  if (!same.empty()) text += (text.empty() ? "the same: " : ". The same: ") + same;
  return text;
}

// "6 pairs of runs, 12 s; a change of 0.3 % would have been seen"
std::string basis_of_comparison(const Comparison& comparison, const ComparisonResult& judgement) {
  if (!comparison.same_because.empty()) return "";
  if (comparison.is_of_results) return plain_figures(settings_line(comparison));
  std::string text = fmt::format("{} of runs, {}", plural(judgement.pairs, "pair"),
                                 plain_figures(format_duration(comparison.spent)));
  const Difference* rate = judgement.find("samples-per-s");
  const bool is_decided =
      judgement.verdict == Outcome::worse || judgement.verdict == Outcome::better;
  if (is_decided && rate != nullptr && rate->least_seen > 0)
    text += fmt::format("; a change of {} would have been seen", least_change(rate->least_seen));
  return comparison.interrupted ? text + " (interrupted)" : text;
}

// Returns the command with a budget for as many pairs as are needed.
std::string next_of_untold(const Comparison& comparison, const ComparisonResult& judgement) {
  if (comparison.is_of_results) return "pairs of runs see less: loaderscope help did-it-help";
  constexpr double kMinute = 60, kMaxMinutes = 60;
  const double given = seconds(comparison.options.budget);
  double needed = 2 * given;
  if (judgement.more_pairs > 0 && judgement.pairs > 0)
    needed = std::max(given + kMinute, seconds(comparison.spent) *
                                           static_cast<double>(judgement.more_pairs) /
                                           static_cast<double>(judgement.pairs));
  const double minutes = std::ceil(needed / kMinute);
  if (minutes > kMaxMinutes) return "a quieter machine: other runs differ too much here";
  return fmt::format("--budget {:.0f}m", minutes);
}

LineTone tone_of_comparison(const GateAnswer& gate, Outcome verdict) {
  if (verdict == Outcome::worse) return gate.gate == Gate::fails ? LineTone::bad : LineTone::plain;
  return verdict == Outcome::cannot_tell ? LineTone::warning : LineTone::good;
}

}  // namespace

Answer answer_comparison(const Comparison& comparison) {
  const ComparisonResult judgement = judge(comparison);
  const GateAnswer gate = decide_gate(comparison, judgement);
  Answer answer;
  answer.is_table_first = true;
  answer.tone = tone_of_comparison(gate, judgement.verdict);
  answer.headline = compare_headline(comparison, judgement, gate);
  const std::string memory = plain_figures(memory_line(judgement));
  const Difference* more_memory = judgement.more_memory();
  const Worse* worse_memory = more_memory == nullptr ? nullptr : gate.find(more_memory->name);
  const bool fails_by_memory =
      worse_memory != nullptr && worse_memory->fails && judgement.verdict != Outcome::worse;
  if (fails_by_memory) {
    answer.last.push_back({"Why", answer.headline});
    answer.headline = "MORE MEMORY: " + memory;
    answer.tone = LineTone::bad;
  }
  if (comparison.first_slower) {
    answer.last.push_back({"Why", answer.headline});
    answer.headline = headline_of_bisection(*comparison.first_slower);
  }
  if (comparison.anchor && comparison.anchor->is_beyond()) {
    answer.last.push_back({"Why", answer.headline});
    answer.headline =
        fmt::format("BEYOND THE LIMIT: {:+.0f} % CPU per sample since {}",
                    100 * comparison.anchor->change.mean, shown_text(comparison.anchor->arm.what));
  }
  if (judgement.pairs > 0) answer.table = compared_table(judgement);
  if (judgement.verdict == Outcome::cannot_tell)
    answer.first.push_back({"Next", next_of_untold(comparison, judgement)});
  for (const std::string& line : acceptance_lines(comparison, judgement))
    answer.first.push_back({"Why", plain_figures(line)});
  if (!memory.empty() && !fails_by_memory) answer.last.push_back({"Also", memory});
  if (judgement.verdict == Outcome::worse || judgement.verdict == Outcome::better)
    if (const std::string rest = describe_rest(judgement); !rest.empty())
      answer.last.push_back({"Also", rest});
  if (comparison.is_of_results && !comparison.notes.empty())
    answer.last.push_back({"Also", "not alike: " + plain_figures(comparison.notes.front())});
  const std::string basis = basis_of_comparison(comparison, judgement);
  if (!basis.empty()) answer.last.push_back({"Why", basis});
  std::string more = "-v, --html page.html";
  if (gate.gate == Gate::fails) more += "    If intended: help gate    (exit code 2)";
  answer.last.push_back({"More", more});
  return answer;
}

}  // namespace loaderscope::compare
