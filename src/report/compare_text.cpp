// A comparison for people: what became of it, whether it matters, and the evidence.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/wording.h"
#include "base/replace_all.h"
#include "experiment/compare/gate.h"
#include "report/compare_text.h"

namespace loaderscope::compare {
namespace {

// "+11.8 % (10.1 to 13.6)"; points of a share.
std::string format_change(const Difference& one) {
  const std::string unit = one.scale == Scale::ratio ? "%" : "points";
  return fmt::format("{:+.1f} {} ({:+.1f} to {:+.1f})", 100 * one.change.mean, unit,
                     100 * one.change.low, 100 * one.change.high);
}

std::string changed_counts(const ComparisonResult& judgement) {
  std::vector<std::string> changed;
  for (const CountChange& count : judgement.counts) {
    if (count.changed())
      changed.push_back(
          fmt::format("{} {:.6g} -> {:.6g} per sample", spoken(count.name), count.a, count.b));
  }
  return joined(changed);
}

std::string duration_text(double s) {
  constexpr double kMaxSeconds = 1e9;  // limit of 64-bit nanoseconds
  return format_duration(std::llround(1e9 * std::min(s, kMaxSeconds)));
}

// Returns the named change that is most of the change of a stage; "" if no change is.
std::string changed_name(const ComparisonResult& judgement, const Difference& blamed) {
  if (judgement.name_changes.empty() || blamed.scale != Scale::ratio) return "";
  const NameChange& largest = judgement.name_changes.front();
  const bool is_most = (largest.b - largest.a) / (blamed.b - blamed.a) >= 0.5;
  if (!is_most) return "";
  return fmt::format(": {} {} -> {}", shown_text(largest.name), duration_text(largest.a),
                     duration_text(largest.b));
}

// Returns what the program calls the new or changed part of the blamed stage.
std::string changed_part(const ComparisonResult& judgement, const Difference& blamed) {
  for (const auto& [names, words] :
       {std::pair(&judgement.new_names, "is new"), std::pair(&judgement.gone_names, "is gone")}) {
    for (const std::string& name : *names) {
      if (name.starts_with(blamed.name + " "))
        return fmt::format(": {} {}", name.substr(blamed.name.size() + 1), words);
    }
  }
  return changed_name(judgement, blamed);
}

// The difference that decides if no stage can be named. Memory has its own line.
const Difference* leading(const ComparisonResult& judgement) {
  for (const Difference& one : judgement.differences) {
    if (one.verdict == judgement.verdict && &one != judgement.more_memory()) return &one;
  }
  return nullptr;
}

// "B gives 270 samples/s, A gave 192 (+40.6 %)"
std::string rates_text(const Difference& rate) {
  return fmt::format("B gives {} samples/s, A gave {} ({:+.1f} %)", format_rate(rate.b),
                     format_rate(rate.a), 100 * rate.change.mean);
}

// Rates of two results, and the wait that changed most.
std::string what_results_say(const Comparison& comparison, const Difference& rate) {
  const std::string wait = changed_wait(comparison, rate.verdict == Outcome::better);
  return rates_text(rate) + (wait.empty() ? "" : ": " + wait);
}

std::string what_changed(const Comparison& comparison, const ComparisonResult& judgement) {
  const Difference* rate = judgement.find("samples-per-s");
  if (comparison.is_of_results && rate != nullptr && rate->verdict == judgement.verdict)
    return what_results_say(comparison, *rate);
  const Difference* first = leading(judgement);
  const Difference* blamed = judgement.blamed();
  if (blamed != nullptr) {
    const std::string whole =
        first != nullptr && first->row != nullptr ? "; " + change_line(*first) : "";
    return change_line(*blamed) + changed_part(judgement, *blamed) + whole;
  }
  if (first != nullptr) return change_line(*first);
  return changed_counts(judgement);
}

double largest_unseen(const ComparisonResult& judgement) {
  double most = 0;
  for (const Difference& one : judgement.differences) {
    if (one.row != nullptr && one.row->decides) most = std::max(most, one.least_seen);
  }
  return most;
}

std::string cannot_tell(const Comparison& comparison, const ComparisonResult& judgement) {
  std::vector<std::string> open;
  for (const Difference& one : judgement.differences) {
    if (one.row != nullptr && one.row->decides && one.verdict == Outcome::cannot_tell)
      open.push_back(change_line(one));
  }
  if (judgement.pairs == 0) return "CANNOT TELL: no pair of runs was complete";
  const Difference* rate = judgement.find("samples-per-s");
  if (comparison.is_of_results && rate != nullptr)
    return fmt::format("CANNOT TELL: {}; one run of each shows no change below {:.0f} %",
                       rates_text(*rate), 100 * rate->least_seen);
  if (comparison.is_of_results && !comparison.known)
    return "CANNOT TELL: how far runs of the same code differ on the machine of A and B is not "
           "known "
           "here; compare flags or refs there";
  std::string text =
      fmt::format("CANNOT TELL below {:.1f} %: {}", 100 * largest_unseen(judgement), joined(open));
  if (judgement.more_pairs > 0)
    text += fmt::format("; about {} pairs would do, there were {}", judgement.more_pairs,
                        judgement.pairs);
  return text;
}

std::string worse(const Comparison& comparison, const ComparisonResult& judgement) {
  const GateAnswer answer = decide_gate(comparison, judgement);
  const bool is_accepted = answer.is_accepted && answer.gate == Gate::passes;
  return std::string(leading(judgement) != nullptr ? "SLOWER" : "MORE WORK") +
         (is_accepted ? ", as accepted: " : ": ");
}

std::string same(const Comparison& comparison, const ComparisonResult& judgement) {
  if (!comparison.same_because.empty()) return "SAME by construction: " + comparison.same_because;
  std::vector<std::string> known;
  for (const Difference& one : judgement.differences) {
    if (one.row != nullptr && one.row->decides) known.push_back(change_line(one));
  }
  return fmt::format("SAME within ±{:.3g} %: {}", 100 * comparison.options.band, joined(known));
}

std::string verdict_line(const Comparison& comparison, const ComparisonResult& judgement) {
  switch (judgement.verdict) {
    case Outcome::worse:
      return worse(comparison, judgement) + what_changed(comparison, judgement);
    case Outcome::better:
      return "FASTER: " + what_changed(comparison, judgement);
    case Outcome::same:
      return same(comparison, judgement);
    case Outcome::cannot_tell:
      break;
  }
  return cannot_tell(comparison, judgement);
}

// "FIRST SLOWER: b71e0dd Use RandomErasing (by Ada)"
std::string first_slower(const FirstSlower& found) {
  const std::string name = found.commit.commit + " " + shown_text(found.commit.subject) + " (by " +
                           shown_text(found.commit.author) + ")";
  if (found.others == 0) return "FIRST SLOWER: " + name;
  return fmt::format("FIRST SLOWER is {} or one of {} before it", name,
                     plural(found.others, "commit"));
}

}  // namespace

// "wait-for-decode" as it is spoken.
std::string spoken(std::string_view name) {
  const std::string_view opaque = name_of(Stage::opaque);
  std::string words = replace_all(std::string(name), opaque, shown_name(opaque));
  std::replace(words.begin(), words.end(), '-', ' ');
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string change_line(const Difference& one) {
  const bool per_sample = one.row == nullptr && one.scale == Scale::ratio;
  return spoken(one.name) + " " + format_change(one) + (per_sample ? " per sample" : "");
}

// Formats the value in its unit. A stage or a cause has no row: its unit is seconds, or a share.
std::string format_value(const Difference& one, double value) {
  if (one.scale == Scale::share) return format_percent(value);
  const std::string_view unit = one.row != nullptr ? one.row->unit : "s";
  if (unit == "s") return duration_text(value);
  if (unit == "bytes") return format_size(value);
  return format_rate(value);
}

std::string anchor_line(const Anchor& anchor) {
  return fmt::format("since {} ({}): cpu per sample {:+.1f} % ({:+.1f} to {:+.1f}), limit {:.3g} %",
                     anchor.arm.what, anchor.arm.commit, 100 * anchor.change.mean,
                     100 * anchor.change.low, 100 * anchor.change.high, 100 * anchor.limit);
}

std::string answer_line(const Comparison& comparison, const ComparisonResult& judgement) {
  std::string text;
  if (comparison.anchor && comparison.anchor->is_beyond())
    text = "BEYOND THE LIMIT " + anchor_line(*comparison.anchor) + "; ";
  const GateAnswer answer = decide_gate(comparison, judgement);
  const Difference* memory = judgement.more_memory();
  const bool fails_by_memory =
      memory != nullptr && answer.find(memory->name) != nullptr && answer.find(memory->name)->fails;
  if (fails_by_memory && judgement.verdict != Outcome::worse)
    text += "MORE MEMORY: " + memory_line(judgement) + "; ";
  if (comparison.first_slower) text += first_slower(*comparison.first_slower) + "; ";
  return text + verdict_line(comparison, judgement);
}

}  // namespace loaderscope::compare
