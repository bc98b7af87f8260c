#include "experiment/compare/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "base/printable.h"
#include "experiment/compare/quantities.h"
#include "loaderscope/errors.h"
#include "loaderscope/units.h"
#include "settings/scenario.h"

namespace loaderscope::compare {
namespace {

constexpr double kMaxPercent = 1000;

// All that can be worse.
std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const QuantityRow& row : quantity_table()) names.emplace_back(row.row.name);
  for (const Stage stage : compared_stages()) names.emplace_back(name_of(stage));
  for (const auto& word : Words<Cause>::table())
    names.push_back(std::string(kWaitFor) + std::string(word.name));
  for (const CountRow& row : count_table()) names.emplace_back(row.row.name);
  return names;
}

void check_name(const KeyLine& line) {
  const std::vector<std::string> known = known_names();
  const bool may_be_metric = line.key.find('.') != line.key.npos;
  if (may_be_metric || std::find(known.begin(), known.end(), line.key) != known.end()) return;
  throw UsageError(
      line.place + ": " + shown_text(line.key) + ": is no stage, quantity or count of a comparison",
      did_you_mean(line.key, {known.begin(), known.end()}));
}

// Moves the text before `mark` from `text` to `part`. Returns false if `mark` is missing or the
// part is empty.
bool take_until(std::string_view& text, std::string_view mark, std::string& part) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) return false;
  part = trimmed(text.substr(0, at));
  text = trimmed(text.substr(at + mark.size()));
  return !part.empty();
}

double parse_percent(std::string_view text) {
  if (!text.ends_with('%')) throw ValueError("expected a percentage");
  const double percent = parse_real(trimmed(text.substr(0, text.size() - 1)));
  if (!(percent > 0 && percent <= kMaxPercent)) throw ValueError("expected 0 to 1000 %");
  return percent / 100;
}

Accepted parse_line(const KeyLine& line) {
  Accepted accepted;
  accepted.name = line.key;
  std::string_view rest = line.value;
  std::string percent;
  const bool is_whole = take_until(rest, " until ", percent) &&
                        take_until(rest, " by ", accepted.until) &&
                        take_until(rest, ":", accepted.author) && !rest.empty();
  accepted.reason = rest;
  try {
    if (!is_whole || !is_date(accepted.until)) throw ValueError("");
    accepted.at_most = parse_percent(percent);
  } catch (const ValueError&) {
    throw UsageError(line.place + ": " + shown_text(line.value) +
                         ": expected a percentage, a date, an author and a reason",
                     "write it as '12% until 2026-12-31 by ana: the new crop is wanted'");
  }
  return accepted;
}

double least_change(const Difference& one) {
  return one.more_is_worse ? one.change.low : -one.change.high;
}

std::vector<Worse> all_worse(const Comparison& comparison, const ComparisonResult& judgement) {
  std::vector<Worse> all;
  for (const Difference& one : judgement.differences) {
    if (one.verdict == Outcome::worse) all.push_back({one.name, least_change(one)});
  }
  if (!comparison.same_flags) return all;
  for (const CountChange& count : judgement.counts) {
    if (count.b <= count.a) continue;
    all.push_back({count.name, count.a > 0 ? count.b / count.a - 1 : 1});
  }
  return all;
}

// Memory has its own switch, whatever else is asked for.
void apply_memory(const Comparison& comparison, const ComparisonResult& judgement, Worse& one) {
  const Difference* memory = judgement.more_memory();
  if (memory == nullptr || one.name != memory->name || comparison.options.more_memory_fails) return;
  one.fails = false;
  one.why = "more memory fails nothing without --more-memory fail";
}

bool gpu_has_time(const Comparison& comparison, const ComparisonResult& judgement) {
  return comparison.options.only_if_it_matters && judgement.matters &&
         !judgement.matters->gpu_waits();
}

// Applies accepted slowdowns to the worse quantities of one comparison.
class Acceptance {
 public:
  Acceptance(const Comparison& comparison, const ComparisonResult& judgement)
      : comparison_(comparison), judgement_(judgement) {}

  // Returns whether anything was accepted.
  bool apply(std::vector<Worse>& worse) {
    for (Worse& one : worse) {
      if (one.fails) apply_line(one, one.name);
    }
    for (Worse& one : worse) {
      if (one.why.empty() && one.name.starts_with(kWaitFor)) apply_wait(one, worse);
    }
    for (Worse& one : worse) {
      if (one.why.empty()) apply_total(one);
    }
    return accepts_;
  }

 private:
  const Accepted* find_accepted(std::string_view name) const {
    const auto& lines = comparison_.accepted;
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [&](const Accepted& line) { return line.name == name; });
    return found == lines.end() ? nullptr : &*found;
  }

  void apply_line(Worse& one, std::string_view name) {
    const Accepted* line = find_accepted(name);
    if (line == nullptr) return;
    const std::string what = fmt::format("{:.3g} % until {} by {}: {}", 100 * line->at_most,
                                         line->until, line->author, line->reason);
    if (line->until < comparison_.today) {
      one.why = "no longer accepted: was up to " + what;
    } else if (one.at_least > line->at_most) {
      one.why = "more than was accepted: up to " + what;
    } else {
      one.fails = false;
      accepts_ = true;
      one.why = "accepted: up to " + what;
      add_stage(one);
    }
  }

  void add_stage(const Worse& one) {
    const Difference* stage = judgement_.find(one.name);
    if (stage != nullptr && stage->row == nullptr && stage->scale == Scale::ratio)
      accepted_time_ += stage->b - stage->a;
  }

  // Accepts a wait whose stage was accepted.
  void apply_wait(Worse& one, const std::vector<Worse>& worse) {
    const std::string_view stage = std::string_view(one.name).substr(kWaitFor.size());
    const auto found = std::find_if(worse.begin(), worse.end(),
                                    [&](const Worse& other) { return other.name == stage; });
    if (found == worse.end() || found->fails) return;
    one.fails = false;
    accepts_ = true;
    one.why = "accepted with " + found->name;
  }

  // A rate, or a time of the whole: by how much longer all stages may take. Memory has no time.
  void apply_total(Worse& one) {
    const Difference* total = judgement_.find(one.name);
    if (accepted_time_ <= 0 || total == nullptr || total->row == nullptr ||
        total->row->unit == "bytes")
      return;
    const double longer = accepted_time_ / time_of_stages();
    const double explained = total->more_is_worse ? longer : longer / (1 + longer);
    if (one.at_least > explained + comparison_.options.band) {
      one.why =
          fmt::format("more than the {:.1f} % that the accepted stages explain", 100 * explained);
      return;
    }
    one.fails = false;
    accepts_ = true;
    one.why = "explained by what was accepted";
  }

  double time_of_stages() const {
    double all = 0;
    for (const Difference& one : judgement_.differences) {
      if (one.row == nullptr && one.scale == Scale::ratio) all += one.a;
    }
    return all;
  }

  const Comparison& comparison_;
  const ComparisonResult& judgement_;
  double accepted_time_ = 0;  // time of stages, in seconds per sample
  bool accepts_ = false;
};

// Judges the change since the anchor. Only a higher limit can accept a slowdown there.
GateAnswer gate_of_anchor(const Comparison& comparison, const ComparisonResult& judgement) {
  GateAnswer answer;
  const std::optional<Anchor>& anchor = comparison.anchor;
  const bool open = judgement.verdict == Outcome::cannot_tell || (anchor && anchor->cannot_tell());
  if (open && comparison.options.must_decide) answer.gate = Gate::untold;
  if (anchor && anchor->is_beyond()) answer.gate = Gate::fails;
  return answer;
}

}  // namespace

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = -1;
    const char* end = text.data() + at + digits;
    const auto [next, error] = std::from_chars(text.data() + at, end, value);
    return error == std::errc() && next == end ? value : -1;
  };
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  if (year < 0 || month < 0 || day < 0) return false;
  return std::chrono::year_month_day(std::chrono::year(year),
                                     std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

std::vector<Accepted> parse_accepted(std::string_view text, const std::string& path) {
  std::vector<Accepted> all;
  for (const KeyLine& line : key_lines(text, path, [](std::string_view) {})) {
    check_name(line);
    const bool is_there = std::any_of(all.begin(), all.end(),
                                      [&](const Accepted& one) { return one.name == line.key; });
    if (is_there)
      throw UsageError(line.place + ": " + std::string(line.key) + ": already given",
                       "leave one out");
    all.push_back(parse_line(line));
  }
  return all;
}

const Worse* GateAnswer::find(std::string_view name) const {
  const auto found =
      std::find_if(worse.begin(), worse.end(), [&](const Worse& one) { return one.name == name; });
  return found == worse.end() ? nullptr : &*found;
}

GateAnswer decide_gate(const Comparison& comparison, const ComparisonResult& judgement) {
  GateAnswer answer = gate_of_anchor(comparison, judgement);
  const Difference* memory = judgement.more_memory();
  if (judgement.verdict == Outcome::worse)
    answer.worse = all_worse(comparison, judgement);
  else if (memory != nullptr)
    answer.worse = {{memory->name, least_change(*memory)}};
  for (Worse& one : answer.worse) apply_memory(comparison, judgement, one);
  if (gpu_has_time(comparison, judgement)) {
    for (Worse& one : answer.worse) {
      if (memory != nullptr && one.name == memory->name) continue;
      one.fails = false;
      one.why = "the GPU does not wait for it";
    }
  } else {
    answer.is_accepted = Acceptance(comparison, judgement).apply(answer.worse);
  }
  const bool fails = std::any_of(answer.worse.begin(), answer.worse.end(),
                                 [](const Worse& one) { return one.fails; });
  if (fails) answer.gate = Gate::fails;
  return answer;
}

}  // namespace loaderscope::compare
