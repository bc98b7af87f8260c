// --require 'device.busy >= 0.85': a condition on a value of the result JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "analysis/totals.h"
#include "base/printable.h"
#include "loaderscope/report.h"
#include "report/result_path.h"
#include "report/results.h"
#include "settings/requirement.h"

namespace loaderscope {
namespace {

// --- values: a number, also with a unit (then in the unit of the JSON: seconds, bytes, per
// second), or a word ---

template <class Parse>
std::optional<double> attempt(const Parse& parse_value, std::string_view text) {
  try {
    return static_cast<double>(parse_value(text));
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

std::optional<double> read_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && std::isfinite(value)) {
    const std::string_view rest =
        trimmed({end, static_cast<std::size_t>(text.data() + text.size() - end)});
    if (rest.empty()) return value;
    if (rest == "%") return value / 100;
  }
  if (const auto ns = attempt(parse_duration, text)) return *ns / 1e9;
  if (const auto rate = attempt(parse_count_rate, text)) return rate;
  if (const auto rate = attempt(parse_byte_rate, text)) return rate;
  return attempt(parse_size, text);
}

bool compare(double a, const std::string& comparison, double b) {
  if (comparison == ">=") return a >= b;
  if (comparison == "<=") return a <= b;
  if (comparison == ">") return a > b;
  if (comparison == "<") return a < b;
  return (comparison == "==") == (a == b);
}

// --- paths ---

ValueError unknown_path(const std::string& path) {
  const std::vector<std::string> paths = paths_of_run();
  const std::vector<std::string_view> candidates(paths.begin(), paths.end());
  return ValueError(fmt::format("the result has no value '{}'", shown_text(path)),
                    did_you_mean(path, candidates));
}

bool depends_on_run(std::string_view path) {
  const std::string_view root = path.substr(0, path.find('.'));
  if (root == "queues" || path.starts_with("first_batch.by_cause.") ||
      path.starts_with("first_batch.before_first_ask."))
    return true;
  const std::vector<std::string_view> roots = members_of_run();
  if (std::find(roots.begin(), roots.end(), root) != roots.end()) return false;
  return path.find('.') != path.npos && nearest_word(root, roots).empty();
}

// --- the answer ---

std::string reason_for_null(const std::string& path, const Analysis& analysis) {
  const Verdict& verdict = analysis.verdict;
  if (path.starts_with("device.")) return "the run has no compute to be busy with; give --compute";
  if (path.starts_with("depth.")) return "no depth that was tried makes 99.9 % of the steps ready";
  if (!path.starts_with("verdict.")) return "it is not known";
  if (verdict.withheld_reason) return *verdict.withheld_reason;
  if (path == "verdict.severity")
    return "without compute there is no stall to grade; give --compute";
  std::string names;
  for (Cause cause : verdict.candidates)
    names += (names.empty() ? "" : ", ") + std::string(name_of(cause));
  return names + " cannot be distinguished; measure longer";
}

// Means over the window, as uncertain as the verdict on it.
bool is_mean_of_window(std::string_view path) {
  constexpr std::array<std::string_view, 6> kMeans = {"device.", "throughput.", "account.",
                                                      "cost.",   "epoch.",      "step_time."};
  return std::any_of(kMeans.begin(), kMeans.end(),
                     [&](std::string_view root) { return path.starts_with(root); });
}

// Three digits, or as many as distinguish the value from the required one. In per cent if the
// requirement is.
std::string shown_number(double value, const Requirement& condition) {
  const bool is_percent = condition.value.ends_with('%');
  const double factor = is_percent ? 100 : 1;
  const std::optional<double> wanted = read_number(condition.value);
  constexpr int kDigits = 3, kMaxDigits = 17;
  for (int digits = kDigits; digits <= kMaxDigits; ++digits) {
    std::string text = fmt::format("{:.{}g}", factor * value, digits);
    const bool looks_alike =
        wanted && *wanted != value && text == fmt::format("{:.{}g}", factor * *wanted, digits);
    if (!looks_alike) return text + (is_percent ? " %" : "");
  }
  return fmt::format("{}", value);
}

std::string shown_value(const ResultValue& value, const Requirement& condition) {
  if (value.type == FlatValue::Type::null) return "null";
  if (value.type == FlatValue::Type::text) return "'" + shown_text(value.text) + "'";
  const bool has_decimals = value.text.find_first_of(".e") != value.text.npos;
  return value.is_number() && has_decimals ? shown_number(value.number, condition) : value.text;
}

const char* value_kind(const ResultPath& path) {
  if (path.can_be("boolean")) return "true or false";
  return path.can_be("string") ? "a word" : "a number";
}

// Returns true if the path allows the value of the condition.
bool can_hold(const ResultPath& path, const Requirement& condition) {
  if (path.can_be("number") || path.can_be("integer"))
    return read_number(condition.value).has_value();
  if (condition.comparison != "==" && condition.comparison != "!=") return false;
  return !path.can_be("boolean") || condition.value == "true" || condition.value == "false";
}

// Returns nothing if the value has another type than the condition's.
std::optional<bool> holds(const ResultValue& value, const Requirement& condition) {
  const bool wants_equal = condition.comparison == "==";
  const bool orders = !wants_equal && condition.comparison != "!=";
  if (value.is_number()) {
    const auto wanted = read_number(condition.value);
    if (!wanted) return std::nullopt;
    return compare(value.number, condition.comparison, *wanted);
  }
  if (orders) return std::nullopt;
  const bool is_flag = value.type == FlatValue::Type::flag;
  if (is_flag && condition.value != "true" && condition.value != "false") return std::nullopt;
  if (value.type == FlatValue::Type::null) return std::nullopt;
  return wants_equal == (value.text == condition.value);
}

RequirementResult answer_to(RequirementResult::Outcome outcome, const std::string& text,
                            const std::string& words) {
  return {outcome, fmt::format("--require '{}' {}", shown_text(text), words)};
}

}  // namespace

void check_requirement_syntax(const std::string& text) {
  const Requirement condition = parse_requirement(text);
  if (depends_on_run(condition.path)) return;
  const ResultPath* path = find_path_of_run(condition.path);
  if (path == nullptr || !path->is_single_value()) throw unknown_path(condition.path);
  const bool asks_for_null = condition.value == "null" && path->can_be("null");
  if (asks_for_null || can_hold(*path, condition)) return;
  throw ValueError(fmt::format("the value is {}, which cannot be compared so", value_kind(*path)));
}

RequirementResult evaluate_requirement(const std::string& text, const RunRecord& record,
                                       const Analysis& analysis) {
  using Outcome = RequirementResult::Outcome;
  const Requirement condition = parse_requirement(text);
  const std::optional<ResultValue> value =
      value_at(default_answer(make_result(record, analysis)), condition.path);
  if (!value) {
    const bool did_not_run = find_path_of_run(condition.path) != nullptr;
    if (!did_not_run && !condition.path.starts_with("first_batch.by_cause.")) {
      throw add_place<UsageError>("--require '" + shown_text(text) + "': ",
                                  unknown_path(condition.path));
    }
    return answer_to(Outcome::cannot_tell, text, "cannot be decided: this run has no such value");
  }
  const bool is_null = value->type == FlatValue::Type::null;
  const bool asks_for_null =
      condition.value == "null" && (condition.comparison == "==" || condition.comparison == "!=");
  if (asks_for_null) {
    const bool met = is_null == (condition.comparison == "==");
    return answer_to(
        met ? Outcome::met : Outcome::not_met, text,
        fmt::format("is {}met: it is {}", met ? "" : "not ", shown_value(*value, condition)));
  }
  if (is_null) {
    return answer_to(Outcome::cannot_tell, text,
                     "cannot be decided: " + reason_for_null(condition.path, analysis));
  }
  if (analysis.verdict.withheld_reason && is_mean_of_window(condition.path)) {
    return answer_to(
        Outcome::cannot_tell, text,
        fmt::format("cannot be decided: it is {}, but {}", shown_value(*value, condition),
                    *analysis.verdict.withheld_reason));
  }
  if (condition.path.starts_with("device.") && is_gpu_unseen(record)) {
    return answer_to(
        Outcome::cannot_tell, text,
        fmt::format("cannot be decided: it is {} of the training as the host saw it, and the "
                    "GPU's own times are not known; the notes of the answer say why",
                    shown_value(*value, condition)));
  }
  const std::optional<bool> met = holds(*value, condition);
  if (!met) {
    throw UsageError(fmt::format("--require '{}': the value is {}, which cannot be compared so",
                                 shown_text(text), shown_value(*value, condition)),
                     "give a value of the same kind");
  }
  return answer_to(
      *met ? Outcome::met : Outcome::not_met, text,
      fmt::format("is {}met: it is {}", *met ? "" : "not ", shown_value(*value, condition)));
}

}  // namespace loaderscope
