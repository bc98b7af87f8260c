// --require 'device.busy >= 0.85': a condition on a value of the result JSON.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/printable.h"
#include "report/json_writer.h"
#include "report/keys.h"
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

// Names may contain dots themselves ("stages.read.decompress.wall_s"), so every split is tried.
const nlohmann::json* resolve_path(const nlohmann::json& value, std::string_view path) {
  if (!value.is_object()) return nullptr;
  for (auto dot = path.size(); dot != path.npos && dot > 0; dot = path.rfind('.', dot - 1)) {
    const auto found = value.find(std::string(path.substr(0, dot)));
    if (found == value.end()) continue;
    if (dot == path.size()) return &*found;
    if (const nlohmann::json* inner = resolve_path(*found, path.substr(dot + 1))) return inner;
  }
  return nullptr;
}

void collect_paths(const nlohmann::json& value, const std::string& prefix,
                   std::vector<std::string>& paths) {
  for (const auto& [key, member] : value.items()) {
    const std::string path = prefix.empty() ? key : prefix + "." + key;
    if (member.is_object()) {
      collect_paths(member, path, paths);
    } else if (!member.is_array()) {
      paths.push_back(path);
    }
  }
}

nlohmann::json document_of(const RunRecord& record, const Analysis& analysis) {
  std::stringstream text;
  write_json(text, record, analysis, JsonScope::answer);
  return nlohmann::json::parse(text);
}

// A result that has a value at every path that does not depend on the run.
const nlohmann::json& every_path() {
  static const nlohmann::json document = [] {
    RunRecord record;
    record.config.samples.value = 1;
    RankRecord rank;
    StepRow row;
    row.compute_end = rank.window_end = kSecond;
    rank.rows.push_back(row);
    rank.samples = 1;
    for (StageStats& stage : rank.stages) stage.add(1, 1, 0, 0);
    record.ranks.push_back(std::move(rank));
    Analysis analysis = analyse(record);
    analysis.starved = Starved{};
    analysis.depth = ReadyDepth{"prefetch-factor", 1, 1, 0, 1};
    analysis.what_it_takes = WhatItTakes{};
    return document_of(record, analysis);
  }();
  return document;
}

std::string unknown_path(const std::string& path, const nlohmann::json& document) {
  std::vector<std::string> paths;
  collect_paths(document, "", paths);
  const std::vector<std::string_view> candidates(paths.begin(), paths.end());
  return fmt::format("the result has no value '{}'{}", shown_text(path),
                     suggestion(path, candidates));
}

// Paths that only a run can tell: queues, metrics, what came before the first ask.
bool depends_on_run(std::string_view path) {
  const std::string_view root = path.substr(0, path.find('.'));
  if (root == "queues" || path.starts_with("first_batch.by_cause.")) return true;
  std::vector<std::string_view> roots(std::begin(keys::kTopLevel), std::end(keys::kTopLevel));
  for (std::string_view known : roots) {
    if (root == known) return false;
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

std::string shown_value(const nlohmann::json& value) {
  return value.is_string() ? "'" + shown_text(value.get<std::string>()) + "'" : value.dump();
}

const char* kind_of(const nlohmann::json& value) {
  return value.is_number() ? "a number" : value.is_boolean() ? "true or false" : "a word";
}

// Nothing when the value has another type than the condition's.
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

RequirementResult result_of(RequirementResult::Outcome outcome, const std::string& text,
                            const std::string& words) {
  return {outcome, fmt::format("--require '{}' {}", shown_text(text), words)};
}

}  // namespace

void check_requirement_syntax(const std::string& text) {
  const Requirement condition = parse_requirement(text);
  if (depends_on_run(condition.path)) return;
  const nlohmann::json* value = resolve_path(every_path(), condition.path);
  if (value == nullptr || value->is_structured())
    throw ValueError(unknown_path(condition.path, every_path()));
  if (value->is_null() || condition.value == "null" || holds(*value, condition)) return;
  throw ValueError(fmt::format("the value is {}, which cannot be compared so", kind_of(*value)));
}

RequirementResult evaluate_requirement(const std::string& text, const RunRecord& record,
                                       const Analysis& analysis) {
  using Outcome = RequirementResult::Outcome;
  const Requirement condition = parse_requirement(text);
  const nlohmann::json document = document_of(record, analysis);
  const nlohmann::json* value = resolve_path(document, condition.path);
  if (value == nullptr || value->is_structured()) {
    const bool did_not_run = resolve_path(every_path(), condition.path) != nullptr;
    if (!did_not_run && !condition.path.starts_with("first_batch.by_cause.")) {
      throw UsageError("--require '" + shown_text(text) +
                       "': " + unknown_path(condition.path, document));
    }
    return result_of(Outcome::cannot_tell, text, "cannot be told: this run has no such value");
  }
  const bool asks_for_null =
      condition.value == "null" && (condition.comparison == "==" || condition.comparison == "!=");
  if (asks_for_null) {
    const bool met = value->is_null() == (condition.comparison == "==");
    return result_of(met ? Outcome::met : Outcome::not_met, text,
                     fmt::format("is {}met: it is {}", met ? "" : "not ", shown_value(*value)));
  }
  if (value->is_null()) {
    return result_of(Outcome::cannot_tell, text,
                     "cannot be told: " + reason_for_null(condition.path, analysis));
  }
  const std::optional<bool> met = holds(*value, condition);
  if (!met) {
    throw UsageError(fmt::format("--require '{}': the value is {}, which cannot be compared so",
                                 shown_text(text), shown_value(*value)));
  }
  return result_of(*met ? Outcome::met : Outcome::not_met, text,
                   fmt::format("is {}met: it is {}", *met ? "" : "not ", shown_value(*value)));
}

}  // namespace loaderscope
