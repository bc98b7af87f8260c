#include "report/answer/compare_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/wording.h"
#include "report/answer/answer.h"
#include "report/answer/plain_figures.h"
#include "report/compare_text.h"

namespace loaderscope::compare {

std::string short_change(const Difference& one) {
  const std::string_view unit = one.scale == Scale::ratio ? "%" : "points";
  const double value = 100 * one.change.mean;
  if (std::abs(value) < 0.5) return fmt::format("0 {}", unit);
  return fmt::format("{:+.0f} {}", value, unit);
}

std::string least_change(double share) {
  const double points = std::max(0.1, 100 * share);
  return points < 1 ? fmt::format("{:.1g} %", points) : fmt::format("{:.0f} %", points);
}

std::string name_for_people(const Difference& one) {
  if (one.name == "samples-per-s") return "samples/s";
  if (one.name == "cpu-per-sample") return "CPU per sample";
  if (one.name == "busy") return "GPU busy";
  std::string_view name = one.name;
  if (name.ends_with(kWall)) name.remove_suffix(kWall.size());
  if (name.starts_with(kWaitFor))
    return "waiting for " + std::string(shown_name(name.substr(kWaitFor.size())));
  return spoken(name);
}

std::string plain_value(const Difference& one, double value) {
  if (one.row != nullptr && one.row->unit == "1/s") return plain_rate(value);
  return plain_figures(format_value(one, value));
}

const Difference* first_of_verdict(const ComparisonResult& judgement) {
  for (const Difference& one : judgement.differences)
    if (one.row != nullptr && one.verdict == judgement.verdict && &one != judgement.more_memory())
      return &one;
  return nullptr;
}

std::string describe_counts(const ComparisonResult& judgement) {
  for (const CountChange& count : judgement.counts)
    if (count.changed())
      return fmt::format("{} {:.4g} -> {:.4g} per sample", spoken(count.name), count.a, count.b);
  return "";
}

namespace {

// "decode takes 20 % longer", "waiting for read 20 % -> 35 %"
std::string describe_blamed(const Difference& one) {
  const std::string name = name_for_people(one);
  if (one.scale == Scale::share)
    return fmt::format("{} {} -> {}", name, whole_percent(one.a), whole_percent(one.b));
  const double change = 100 * std::abs(one.change.mean);
  return fmt::format("{} takes {:.0f} % {}", name, change, one.change.mean > 0 ? "longer" : "less");
}

// "B gives 216 samples/s, A gave 249 (-13 %)"
std::string rates_for_people(const Difference& rate) {
  return fmt::format("B gives {} samples/s, A gave {} ({})", plain_rate(rate.b), plain_rate(rate.a),
                     short_change(rate));
}

// Returns the text after SLOWER and FASTER.
std::string describe_change(const ComparisonResult& judgement) {
  const Difference* rate = judgement.find("samples-per-s");
  const Difference* first = first_of_verdict(judgement);
  const Difference* blamed = judgement.blamed();
  std::string text;
  if (rate != nullptr && rate->verdict == judgement.verdict)
    text = rates_for_people(*rate);
  else if (first != nullptr)
    text = fmt::format("{}: {} in B, {} in A ({})", name_for_people(*first),
                       plain_value(*first, first->b), plain_value(*first, first->a),
                       short_change(*first));
  const std::string cause = blamed != nullptr ? describe_blamed(*blamed) : "";
  if (text.empty()) return cause.empty() ? describe_counts(judgement) : cause;
  if (cause.empty()) return text;
  const auto fits = [&](const std::string& words) {
    constexpr std::string_view kVerdict = "SLOWER: ";
    return count_columns(text + words) + kVerdict.size() + 2 <=
           static_cast<std::size_t>(kMaxAnswerColumns);
  };
  return fits(cause) ? text + ": " + cause : text;
}

std::string headline_of_same(const Comparison& comparison, const ComparisonResult& judgement) {
  if (!comparison.same_because.empty()) return "SAME: " + comparison.same_because;
  const Difference* rate = judgement.find("samples-per-s");
  const std::string seen =
      fmt::format("a change of {} would have been seen", least_change(comparison.options.band));
  if (rate == nullptr) return "SAME: " + seen;
  const std::string a = plain_rate(rate->a), b = plain_rate(rate->b);
  return a == b ? fmt::format("SAME: B and A both give {} samples/s ({})", a, seen)
                : fmt::format("SAME: B gives {} samples/s, A gave {} ({})", b, a, seen);
}

std::string headline_of_untold(const ComparisonResult& judgement) {
  const Difference* rate = judgement.find("samples-per-s");
  if (judgement.pairs == 0) return "CANNOT TELL: no pair of runs was complete";
  if (rate == nullptr) return "CANNOT TELL: the runs of A and of B differ too much";
  if (rate->verdict != Outcome::cannot_tell)
    return fmt::format("CANNOT TELL: {} and {} samples/s, but not everything could be compared",
                       plain_rate(rate->a), plain_rate(rate->b));
  return fmt::format("CANNOT TELL: {} and {} samples/s; a change below {} cannot be seen here",
                     plain_rate(rate->a), plain_rate(rate->b), least_change(rate->least_seen));
}

}  // namespace

std::string compare_headline(const Comparison& comparison, const ComparisonResult& judgement,
                             const GateAnswer& gate) {
  const bool is_accepted = gate.is_accepted && gate.gate == Gate::passes;
  if (comparison.is_of_results) return headline_of_results(comparison, judgement, is_accepted);
  switch (judgement.verdict) {
    case Outcome::worse:
      return fmt::format("{}{}: {}",
                         first_of_verdict(judgement) != nullptr || judgement.blamed() != nullptr
                             ? "SLOWER"
                             : "MORE WORK",
                         is_accepted ? ", as accepted" : "", describe_change(judgement));
    case Outcome::better:
      return "FASTER: " + describe_change(judgement);
    case Outcome::same:
      return headline_of_same(comparison, judgement);
    case Outcome::cannot_tell:
      break;
  }
  return headline_of_untold(judgement);
}

}  // namespace loaderscope::compare
