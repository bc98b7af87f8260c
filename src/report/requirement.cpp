// --require 'device.busy >= 0.85': a condition on a value of the result JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "analysis/totals.h"
#include "base/printable.h"
#include "loaderscope/report.h"
#include "report/result_path.h"
#include "report/results.h"
#include "report/schemas.h"
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

std::optional<double> number_in(std::string_view text) {
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

const nlohmann::json* value_at(const nlohmann::json& document, std::string_view path) {
  return resolve_path(document, path, [](const nlohmann::json& value, const std::string& name) {
    const auto found = value.is_object() ? value.find(name) : value.end();
    return found == value.end() ? nullptr : &*found;
  });
}

nlohmann::json document_of(const RunRecord& record, const Analysis& analysis) {
  std::stringstream text;
  write_json(text, answer_of(record, analysis));
  return nlohmann::json::parse(text);
}

std::string unknown_path(const std::string& path) {
  const std::vector<std::string> paths = paths_of_run();
  const std::vector<std::string_view> candidates(paths.begin(), paths.end());
  return fmt::format("the result has no value '{}'{}", shown_text(path),
                     suggestion(path, candidates));
}

bool depends_on_run(std::string_view path) {
  const std::string_view root = path.substr(0, path.find('.'));
  if (root == "queues" || path.starts_with("first_batch.by_cause.") ||
      path.starts_with("first_batch.before_first_ask."))
    return true;
  std::vector<std::string_view> roots;
  for (const auto& [name, member] : schema_of_run()["properties"].items()) {
    if (root == name) return false;
    roots.push_back(name);
  }
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
  return names + " cannot be told apart; measure longer";
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
  const bool in_percent = condition.value.ends_with('%');
  const double factor = in_percent ? 100 : 1;
  const std::optional<double> wanted = number_in(condition.value);
  constexpr int kDigits = 3, kMaxDigits = 17;
  for (int digits = kDigits; digits <= kMaxDigits; ++digits) {
    std::string text = fmt::format("{:.{}g}", factor * value, digits);
    const bool looks_alike =
        wanted && *wanted != value && text == fmt::format("{:.{}g}", factor * *wanted, digits);
    if (!looks_alike) return text + (in_percent ? " %" : "");
  }
  return fmt::format("{}", value);
}

std::string shown_value(const nlohmann::json& value, const Requirement& condition) {
  if (value.is_string()) return "'" + shown_text(value.get<std::string>()) + "'";
  return value.is_number_float() ? shown_number(value.get<double>(), condition) : value.dump();
}

const char* kind_of(const ResultSchema& schema) {
  if (can_be(schema, "boolean")) return "true or false";
  return can_be(schema, "string") ? "a word" : "a number";
}

// Returns true if the schema allows the value of the condition.
bool can_hold(const ResultSchema& schema, const Requirement& condition) {
  if (can_be(schema, "number") || can_be(schema, "integer"))
    return number_in(condition.value).has_value();
  if (condition.comparison != "==" && condition.comparison != "!=") return false;
  return !can_be(schema, "boolean") || condition.value == "true" || condition.value == "false";
}

// Returns nothing if the value has another type than the condition's.
std::optional<bool> holds(const nlohmann::json& value, const Requirement& condition) {
  const bool wants_equal = condition.comparison == "==";
  const bool orders = !wants_equal && condition.comparison != "!=";
  if (value.is_number()) {
    const auto wanted = number_in(condition.value);
    if (!wanted) return std::nullopt;
    return compare(value.get<double>(), condition.comparison, *wanted);
  }
  if (orders) return std::nullopt;
  if (value.is_boolean()) {
    if (condition.value != "true" && condition.value != "false") return std::nullopt;
    return wants_equal == (value.get<bool>() == (condition.value == "true"));
  }
  if (value.is_string()) return wants_equal == (value.get<std::string>() == condition.value);
  return std::nullopt;
}

RequirementResult answer_to(RequirementResult::Outcome outcome, const std::string& text,
                            const std::string& words) {
  return {outcome, fmt::format("--require '{}' {}", shown_text(text), words)};
}

}  // namespace

void check_requirement_syntax(const std::string& text) {
  const Requirement condition = parse_requirement(text);
  if (depends_on_run(condition.path)) return;
  const ResultSchema* schema = schema_at(condition.path);
  if (schema == nullptr || is_structured(*schema)) throw ValueError(unknown_path(condition.path));
  const bool asks_for_null = condition.value == "null" && can_be(*schema, "null");
  if (asks_for_null || can_hold(*schema, condition)) return;
  throw ValueError(fmt::format("the value is {}, which cannot be compared so", kind_of(*schema)));
}

RequirementResult evaluate_requirement(const std::string& text, const RunRecord& record,
                                       const Analysis& analysis) {
  using Outcome = RequirementResult::Outcome;
  const Requirement condition = parse_requirement(text);
  const nlohmann::json document = document_of(record, analysis);
  const nlohmann::json* value = value_at(document, condition.path);
  if (value == nullptr || value->is_structured()) {
    const bool did_not_run = schema_at(condition.path) != nullptr;
    if (!did_not_run && !condition.path.starts_with("first_batch.by_cause.")) {
      throw UsageError("--require '" + shown_text(text) + "': " + unknown_path(condition.path));
    }
    return answer_to(Outcome::cannot_tell, text, "cannot be told: this run has no such value");
  }
  const bool asks_for_null =
      condition.value == "null" && (condition.comparison == "==" || condition.comparison == "!=");
  if (asks_for_null) {
    const bool met = value->is_null() == (condition.comparison == "==");
    return answer_to(
        met ? Outcome::met : Outcome::not_met, text,
        fmt::format("is {}met: it is {}", met ? "" : "not ", shown_value(*value, condition)));
  }
  if (value->is_null()) {
    return answer_to(Outcome::cannot_tell, text,
                     "cannot be told: " + reason_for_null(condition.path, analysis));
  }
  if (analysis.verdict.withheld_reason && is_mean_of_window(condition.path)) {
    return answer_to(Outcome::cannot_tell, text,
                     fmt::format("cannot be told: it is {}, but {}", shown_value(*value, condition),
                                 *analysis.verdict.withheld_reason));
  }
  if (condition.path.starts_with("device.") && is_gpu_unseen(record)) {
    return answer_to(
        Outcome::cannot_tell, text,
        fmt::format("cannot be told: it is {} of the training as the host saw it, and the GPU's "
                    "own times are not known; the notes of the answer say why",
                    shown_value(*value, condition)));
  }
  const std::optional<bool> met = holds(*value, condition);
  if (!met) {
    throw UsageError(fmt::format("--require '{}': the value is {}, which cannot be compared so",
                                 shown_text(text), shown_value(*value, condition)));
  }
  return answer_to(
      *met ? Outcome::met : Outcome::not_met, text,
      fmt::format("is {}met: it is {}", *met ? "" : "not ", shown_value(*value, condition)));
}

}  // namespace loaderscope
