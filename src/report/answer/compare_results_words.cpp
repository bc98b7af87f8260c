// Line 1 for two results that were measured apart: whether a change helped.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/answer/answer.h"
#include "report/answer/compare_words.h"
#include "report/answer/plain_figures.h"
#include "report/compare_text.h"

namespace loaderscope::compare {
namespace {

// Causes whose own names are no everyday words after "the wait for".
struct WaitName {
  Cause cause;
  std::string_view name;
};

constexpr WaitName kWaitNames[] = {
    {Cause::opaque, "its own code"},   {Cause::launch, "its loop"},
    {Cause::contention, "a core"},     {Cause::h2d, "copies"},
    {Cause::startup, "worker starts"}, {Cause::other, "unknown causes"},
};

std::string_view wait_name(Cause cause) {
  const auto* named = std::find_if(std::begin(kWaitNames), std::end(kWaitNames),
                                   [&](const WaitName& one) { return one.cause == cause; });
  return named != std::end(kWaitNames) ? named->name : name_of(cause);
}

// "Slower", "Slower, as accepted", "Less work"
std::string verdict_text(const ComparisonResult& judgement, bool is_of_rate, bool is_accepted) {
  const bool is_worse = judgement.verdict == Outcome::worse;
  std::string text =
      is_of_rate ? (is_worse ? "Slower" : "Faster") : (is_worse ? "More work" : "Less work");
  return is_accepted ? text + ", as accepted" : text;
}

// "CPU per sample 2 ms -> 3 ms (+50 %)"
std::string describe_difference(const Difference& one) {
  return fmt::format("{} {} -> {} ({})", name_for_people(one), plain_value(one, one.a),
                     plain_value(one, one.b), short_change(one));
}

std::string decided_headline(const Comparison& comparison, const ComparisonResult& judgement,
                             bool is_accepted) {
  const Difference* rate = judgement.find("samples-per-s");
  const bool is_of_rate = rate != nullptr && rate->verdict == judgement.verdict;
  const std::string start = verdict_text(judgement, is_of_rate, is_accepted) + ": ";
  if (!is_of_rate) {
    const Difference* first = first_of_verdict(judgement);
    return start + (first != nullptr ? describe_difference(*first) : describe_counts(judgement));
  }
  const std::string rates = start + fmt::format("{} -> {} samples/s ({})", plain_rate(rate->a),
                                                plain_rate(rate->b), short_change(*rate));
  const bool is_faster = judgement.verdict == Outcome::better;
  const std::optional<WaitChange> wait = largest_wait_change(comparison, is_faster);
  if (!wait) return rates;
  const auto fits = [](const std::string& text) {
    return count_columns(text) <= static_cast<std::size_t>(kMaxAnswerColumns);
  };
  const std::string name(wait_name(wait->cause));
  const std::string whole =
      fmt::format("{}; the wait for {} {} from {} to {}", rates, name, is_faster ? "fell" : "rose",
                  whole_percent(wait->a), whole_percent(wait->b));
  if (fits(whole)) return whole;
  const std::string brief =
      fmt::format("{}; {} wait for {}", rates, is_faster ? "less" : "more", name);
  return fits(brief) ? brief : rates;
}

}  // namespace

std::string headline_of_results(const Comparison& comparison, const ComparisonResult& judgement,
                                bool is_accepted) {
  const Difference* rate = judgement.find("samples-per-s");
  switch (judgement.verdict) {
    case Outcome::worse:
    case Outcome::better:
      return decided_headline(comparison, judgement, is_accepted);
    case Outcome::same:
      if (rate == nullptr) return "No difference: nothing that was compared has changed";
      return fmt::format("No difference: {} -> {} samples/s (a change of {} would have been seen)",
                         plain_rate(rate->a), plain_rate(rate->b),
                         least_change(comparison.options.band));
    case Outcome::cannot_tell:
      break;
  }
  if (rate == nullptr) return "No clear difference: the rate of a run is not known";
  if (rate->verdict != Outcome::cannot_tell)
    return fmt::format("No clear difference: {} -> {} samples/s, but the CPU time is unclear",
                       plain_rate(rate->a), plain_rate(rate->b));
  constexpr double kMaxSeen = 1;  // a larger change says nothing to a reader
  if (rate->least_seen > kMaxSeen)
    return fmt::format("No clear difference: {} -> {} samples/s; a run is too short or too uneven",
                       plain_rate(rate->a), plain_rate(rate->b));
  return fmt::format("No clear difference: {} -> {} samples/s; below {} one run of each shows none",
                     plain_rate(rate->a), plain_rate(rate->b), least_change(rate->least_seen));
}

}  // namespace loaderscope::compare
