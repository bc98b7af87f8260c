// A sweep as JSON, and read back to go on with it.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/file_kind.h"
#include "experiment/settings.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "report/experiment_json.h"
#include "report/sweep_report.h"
#include "settings/engine_table.h"

namespace loaderscope {
namespace {

constexpr std::string_view kSchema = "loaderscope.sweep/1";
constexpr std::string_view kGiveSweep = "give a file that 'loaderscope sweep --json' saved";

void write_index(JsonStream& json, std::string_view key, const std::optional<std::size_t>& index) {
  if (index) {
    json.member(key, static_cast<std::int64_t>(*index));
  } else {
    json.null(key);
  }
}

void write_case(JsonStream& json, const Experiment& experiment, const SweepAnswer& answer,
                std::size_t i) {
  const Case& one = experiment.cases[i];
  json.begin_object();
  write_settings(json, experiment, one);
  write_changes(json, one);
  if (one.skipped.empty()) {
    json.null("skipped");
  } else {
    json.member("skipped", std::string_view(one.skipped));
  }
  write_estimate(json, "samples_per_s", answer.rate[i]);
  write_estimate(json, "busy", answer.busy[i]);
  write_runs(json, one);
  json.end_object();
}

bool has_changes(const JsonCursor& saved, const Changes& changes) {
  const JsonCursor there = saved.at("changes");
  there.expect_object();
  return there.size() == changes.size() &&
         std::all_of(changes.begin(), changes.end(), [&](const Change& change) {
           if (!there.has(change.key)) return false;
           const JsonCursor value = there.at(change.key);
           return value.text() == change.value;
         });
}

// What somebody else's loader has by itself is known once it has run.
bool is_found_by_running(const Case& one, const std::string& key) {
  const Field* field = find_field(key);
  return field != nullptr && is_guest_engine(one.config.engine.value) && !field->given(one.config);
}

// The saved case is `one`, with the same settings in force, as far as they are known.
bool is_case(const JsonCursor& saved, const Experiment& experiment, const Case& one) {
  if (!has_changes(saved, one.changes)) return false;
  const JsonCursor settings = saved.at("settings");
  return std::all_of(experiment.axes.begin(), experiment.axes.end(), [&](const Axis& axis) {
    if (is_found_by_running(one, axis.key)) return true;
    const JsonCursor value = settings.at(axis.key);
    return (value.is_null() ? "-" : value.text()) == setting_text(one, axis.key);
  });
}

// As it was found when it ran.
void adopt_settings(const JsonCursor& saved, const Experiment& experiment, Case& one) {
  const JsonCursor settings = saved.at("settings");
  for (const Axis& axis : experiment.axes) {
    const JsonCursor value = settings.at(axis.key);
    if (!is_found_by_running(one, axis.key) || value.is_null()) continue;
    const Field& field = *find_field(axis.key);
    try {
      field.set(one.config, {value.text()});
    } catch (const ValueError& error) {
      value.fail(error.what());
    }
    field.mark_given(one.config, false);
  }
}

// The case of the experiment that was saved as `saved`.
Case& case_of(const JsonCursor& saved, Experiment& experiment) {
  for (Case& one : experiment.cases) {
    if (one.skipped.empty() && is_case(saved, experiment, one)) return one;
  }
  saved.fail("is no case of this sweep, where flags or cores are not the same");
}

std::ifstream open_sweep(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw RunError(path + ": there is no such file; " + std::string(kGiveSweep));
  if (const std::string_view other = kind_unless_file(path); !other.empty())
    throw RunError(path + ": is " + std::string(other) + "; " + std::string(kGiveSweep));
  std::ifstream in(path, std::ios::binary);
  if (!in) throw RunError(path + ": cannot be read; " + std::string(kGiveSweep));
  return in;
}

void check_schema(const JsonCursor& document, const std::string& path) {
  if (document.has("schema")) {
    const JsonCursor schema = document.at("schema");
    if (schema.text() == kSchema) return;
  }
  throw RunError(path + ": is no sweep (" + std::string(kSchema) + "); " + std::string(kGiveSweep));
}

}  // namespace

void write_sweep_json(std::ostream& out, const Experiment& experiment,
                      std::string_view tool_version) {
  const SweepAnswer answer = judge_sweep(experiment);
  JsonStream json(out);
  json.begin_object();
  json.member("schema", kSchema);
  json.begin_object("tool");
  json.member("version", tool_version);
  json.end_object();
  write_base(json, experiment);
  write_index(json, "best", answer.best);
  write_index(json, "knee", answer.knee);
  json.member("spent_s", Seconds{experiment.spent});
  json.member("interrupted", experiment.interrupted);
  json.member("budget_spent", experiment.budget_spent);
  json.begin_array("cases");
  for (std::size_t i = 0; i < experiment.cases.size(); ++i) write_case(json, experiment, answer, i);
  json.end_array();
  write_texts(json, "notes", experiment.notes);
  json.end_object();
}

void resume_sweep(const std::string& path, Experiment& experiment) {
  std::ifstream in = open_sweep(path);
  resume_sweep(in, path, experiment);
}

void resume_sweep(std::istream& in, const std::string& path, Experiment& experiment) {
  const JsonNode root = read_json(in, path, {});
  const JsonCursor document(root, path);
  check_schema(document, path);
  const std::string differs = difference(document, experiment);
  if (!differs.empty()) {
    throw UsageError("--resume " + path + ": " + differs +
                     "; resume with the same settings, or begin a new sweep");
  }
  const JsonCursor cases = document.at("cases");
  cases.expect_array();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const JsonCursor saved = cases.item(i);
    std::vector<CaseRun> runs = read_runs(saved);
    if (runs.empty()) continue;
    Case& one = case_of(saved, experiment);
    adopt_settings(saved, experiment, one);
    one.runs = std::move(runs);
  }
}

}  // namespace loaderscope
