// Lines of a comparison: its importance, its basis and its certainty.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/wording.h"
#include "experiment/compare/gate.h"
#include "report/compare_text.h"

namespace loaderscope::compare {
namespace {

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

std::string names_with(const ComparisonResult& judgement, Outcome verdict) {
  std::vector<std::string> names;
  for (const Difference& one : judgement.differences) {
    if (one.verdict == verdict) names.push_back(spoken(one.name));
  }
  return joined(names);
}

std::string count_text(const CountChange& count) {
  if (!count.changed()) return spoken(count.name) + " =";
  return fmt::format("{} {:.6g} -> {:.6g} per sample CHANGED", spoken(count.name), count.a,
                     count.b);
}

// Returns the line for a comparison of one run each.
std::string results_line(const Comparison& comparison) {
  std::string text = fmt::format("{}; {}: one run of each", arm_text(comparison.arms[0]),
                                 arm_text(comparison.arms[1]));
  if (!comparison.known) return text;
  const KnownNoise& known = *comparison.known;
  if (known.rate <= kSpreadOfModel.rate) return text + ", in virtual time";
  return text + fmt::format(
                    "; runs of the same code differ by about {:.1f} % in rate and {:.1f} % in CPU "
                    "time ({})",
                    100 * known.rate, 100 * known.cpu,
                    known.jobs > 0 ? "the widest of " + plural(known.jobs, "job") + " here"
                                   : "assumed, as none were compared here");
}

// "8 workers", or "8 workers in A and 4 in B"
std::string workers_words(const Matters& matters) {
  const std::string text = plural(matters.workers, "worker");
  if (matters.workers == matters.workers_of_b) return text;
  return fmt::format("{} in A and {} in B", text, matters.workers_of_b);
}

}  // namespace

std::string arm_text(const Arm& arm) {
  const std::string what = arm.what.empty() ? "as the flags say" : arm.what;
  return arm.name + ": " + what + (arm.commit.empty() ? "" : " (" + arm.commit + ")");
}

std::string undecided_line(const ComparisonResult& judgement) {
  std::string text;
  for (const auto& [verdict, words] :
       {std::pair(Outcome::same, "same"), std::pair(Outcome::cannot_tell, "cannot tell")}) {
    const std::string names = names_with(judgement, verdict);
    if (!names.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", words, names);
  }
  return text;
}

std::string matters_line(const ComparisonResult& judgement) {
  if (!judgement.matters) return "";
  const Matters& matters = *judgement.matters;
  return fmt::format(
      "Does it matter: at {} samples/s with {}, {}; their margin goes from {:.0f} % to {:.0f} %",
      format_rate(matters.rate_needed), workers_words(matters),
      matters.gpu_waits() ? "the GPU waits for B" : "the GPU stays the limit",
      100 * matters.margin_a, 100 * matters.margin_b);
}

std::string arms_line(const Comparison& comparison, const ComparisonResult& judgement) {
  if (comparison.is_of_results) return results_line(comparison);
  if (!comparison.same_because.empty())
    return fmt::format("{}; {} (one run of A showed what it reads, {})",
                       arm_text(comparison.arms[0]), arm_text(comparison.arms[1]),
                       format_duration(comparison.spent));
  std::string text = fmt::format("{}; {}: {} of fresh processes, {} fixed beforehand, A B B A",
                                 arm_text(comparison.arms[0]), arm_text(comparison.arms[1]),
                                 plural(judgement.pairs, "pair"), comparison.planned_pairs);
  if (comparison.steps > 0) text += fmt::format(", {} each", plural(comparison.steps, "step"));
  text += "; " + format_duration(comparison.spent);
  if (comparison.interrupted) text += "; interrupted";
  if (judgement.disturbed > 0)
    text += fmt::format("; {} left out, as other programs took cores then",
                        plural(judgement.disturbed, "run"));
  return text;
}

std::string noise_line(const ComparisonResult& judgement) {
  const Difference* rate = judgement.find("samples-per-s");
  if (!judgement.against_itself || rate == nullptr) return "";
  const Estimate& itself = *judgement.against_itself;
  return fmt::format(
      "the same against itself: {} ({:+.1f} to {:+.1f}) in {}; this job sees changes of samples/s "
      "from {:.1f} % on",
      signed_percent(itself.mean), 100 * itself.low, 100 * itself.high,
      plural(judgement.pairs_of_itself, "pair"), 100 * rate->least_seen);
}

std::string verdict_word(const Difference& one) {
  if (one.verdict == Outcome::same) return "same";
  if (one.verdict == Outcome::cannot_tell) return "cannot tell";
  const bool is_time = one.row == nullptr || one.row->unit == "s" || one.row->unit == "1/s";
  if (is_time) return one.verdict == Outcome::worse ? "slower" : "faster";
  return one.change.mean > 0 ? "more" : "less";
}

std::string counts_line(const ComparisonResult& judgement) {
  std::vector<std::string> counts;
  for (const CountChange& count : judgement.counts) counts.push_back(count_text(count));
  std::string text = counts.empty() ? "" : "the exact counts are " + joined(counts);
  std::vector<std::string> others;
  for (const std::string& name : judgement.uncounted) others.push_back(spoken(name));
  if (!others.empty())
    text +=
        fmt::format("{}counts that are not exact: {}", text.empty() ? "" : "; ", joined(others));
  return text;
}

std::string memory_line(const ComparisonResult& judgement) {
  const Difference* memory = judgement.more_memory();
  if (memory == nullptr) return "";
  return fmt::format("B needs {:.0f} % more memory: {}, A {}", 100 * memory->change.mean,
                     format_value(*memory, memory->b), format_value(*memory, memory->a));
}

std::string settings_line(const Comparison& comparison) {
  if (comparison.changed_settings.empty()) return "";
  return "settings that differ: " + joined(comparison.changed_settings);
}

std::vector<std::string> acceptance_lines(const Comparison& comparison,
                                          const ComparisonResult& judgement) {
  std::vector<std::pair<std::string, std::vector<std::string>>> names_by_why;
  for (const Worse& one : decide_gate(comparison, judgement).worse) {
    if (one.why.empty()) continue;
    const auto same = std::find_if(names_by_why.begin(), names_by_why.end(),
                                   [&](const auto& entry) { return entry.first == one.why; });
    if (same != names_by_why.end())
      same->second.push_back(spoken(one.name));
    else
      names_by_why.push_back({one.why, {spoken(one.name)}});
  }
  std::vector<std::string> lines;
  for (const auto& [why, names] : names_by_why) lines.push_back(joined(names) + ": " + why);
  return lines;
}

std::vector<std::string> difference_cells(const Difference& one) {
  const bool is_id = one.name.find(name_of(Stage::opaque)) == std::string::npos;
  const std::string unit = one.scale == Scale::ratio ? " %" : " points";
  return {is_id ? one.name : spoken(one.name),
          format_value(one, one.a),
          format_value(one, one.b),
          fmt::format("{:+.1f}{}", 100 * one.change.mean, unit),
          fmt::format("{:+.1f} to {:+.1f}", 100 * one.change.low, 100 * one.change.high),
          verdict_word(one)};
}

}  // namespace loaderscope::compare
