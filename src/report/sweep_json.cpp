// A sweep as JSON, and reading of a sweep to resume it.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/fd.h"
#include "experiment/settings.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "record/family_traits.h"
#include "report/experiment_json.h"
#include "report/json_cursor.h"
#include "report/json_reader.h"
#include "report/kinds.h"
#include "report/schemas.h"

namespace loaderscope {
namespace {

constexpr std::string_view kGiveSweep = "give a file that 'loaderscope sweep --json' saved";

// A case as it is saved.
struct SweptCase {
  AxisValues values;
  CaseSettings settings;
  std::string skipped;
  std::optional<Estimate> samples_per_s, busy;
  std::vector<CaseRun> runs;
};

std::vector<SweptCase> swept_cases(const Experiment& experiment, const SweepAnswer& answer) {
  std::vector<SweptCase> swept;
  const RunConfig resolved = resolved_config(experiment);
  for (std::size_t i = 0; i < experiment.cases.size(); ++i) {
    const Case& one = experiment.cases[i];
    swept.push_back({axis_values(experiment, one), case_settings(one, resolved), one.skipped,
                     answer.rate[i], answer.busy[i], one.runs});
  }
  return swept;
}

void describe_swept(ResultVisitor& form, SweptCase& one) {
  describe_values(form, one.values);
  describe_case_settings(form, one.settings);
  form.text_or_null("skipped", one.skipped, "why it was not run, or failed");
  if (!form.reads()) {
    describe_estimate(form, "samples_per_s", one.samples_per_s);
    describe_estimate(form, "busy", one.busy);
  }
  describe_runs(form, one.runs);
}

void describe_cases(ResultVisitor& form, std::vector<SweptCase>& cases) {
  form.list("cases", cases, "in the order of the grid",
            [&](SweptCase& one) { form.object("", "", [&] { describe_swept(form, one); }); });
}

bool has_changes(const SweptCase& saved, const Changes& changes) {
  const Entries<std::string>& there = saved.settings.changes;
  return there.size() == changes.size() &&
         std::all_of(changes.begin(), changes.end(), [&](const Change& change) {
           const std::pair entry(change.key, change.value);
           return std::find(there.begin(), there.end(), entry) != there.end();
         });
}

// Returns true for a value of the user's loader that is known only after a run.
bool is_found_by_running(const Case& one, const std::string& key) {
  const Field* field = find_field(key);
  return field != nullptr && is_guest_engine(one.config.engine.value) && !field->given(one.config);
}

// The saved case is `one`, with the same settings in force, as far as they are known.
bool is_case(const SweptCase& saved, const Experiment& experiment, const Case& one) {
  if (!has_changes(saved, one.changes)) return false;
  const AxisValues values = axis_values(experiment, one);
  return std::all_of(values.begin(), values.end(), [&](const auto& value) {
    return is_found_by_running(one, value.first) ||
           std::find(saved.values.begin(), saved.values.end(), value) != saved.values.end();
  });
}

// Takes the values that the run found. Throws ValueError.
void adopt_values(const SweptCase& saved, Case& one) {
  for (const auto& [key, value] : saved.values) {
    if (!is_found_by_running(one, key) || !value) continue;
    const Field& field = *find_field(key);
    field.set(one.config, {*value});
    field.mark_given(one.config, false);
  }
}

// The case of the experiment that was saved as `saved`; null: none.
Case* find_case(const SweptCase& saved, Experiment& experiment) {
  for (Case& one : experiment.cases) {
    if (one.skipped.empty() && is_case(saved, experiment, one)) return &one;
  }
  return nullptr;
}

// Moves the runs of a saved case into `experiment`. `at` is the place of the case in the file.
void adopt(SweptCase& saved, const JsonCursor& at, Experiment& experiment) {
  Case* one = find_case(saved, experiment);
  if (one == nullptr) at.fail("is no case of this sweep, where flags or cores are not the same");
  try {
    adopt_values(saved, *one);
  } catch (const ValueError& error) {
    at.fail(error.what());
  }
  one->runs = std::move(saved.runs);
}

std::ifstream open_sweep(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw RunError(path + ": there is no such file", std::string(kGiveSweep));
  if (const std::string_view other = non_file_kind(path); !other.empty())
    throw RunError(path + ": is " + std::string(other), std::string(kGiveSweep));
  std::ifstream input(path, std::ios::binary);
  if (!input) throw RunError(path + ": cannot be read", std::string(kGiveSweep));
  return input;
}

void check_schema(const JsonCursor& document, const std::string& path) {
  const std::string expected = schema_name("sweep");
  if (document.has("schema")) {
    const JsonCursor schema = document.at("schema");
    if (schema.text() == expected) return;
  }
  throw RunError(path + ": is no sweep (" + expected + ")", std::string(kGiveSweep));
}

}  // namespace

void describe_sweep(ResultVisitor& form, Experiment& experiment) {
  SweepAnswer answer = judge_sweep(experiment);
  Given given = given_settings(experiment);
  RunConfig resolved = resolved_config(experiment);
  describe_given(form, given);
  form.settings(resolved);
  describe_index(form, "best", answer.best, "index of the case with the highest rate");
  describe_index(form, "knee", answer.knee,
                 "index of the cheapest case whose interval reaches within 3 % of the best");
  form.seconds("spent_s", experiment.spent, "all runs together");
  describe_stops(form, experiment);
  describe_data(form, experiment);
  std::vector<SweptCase> cases = swept_cases(experiment, answer);
  describe_cases(form, cases);
  describe_notes(form, experiment);
  if (!form.reads()) return;
  take_given(form, given, experiment);
  for (SweptCase& saved : cases) {
    Case& one = experiment.cases.emplace_back();
    take_settings(form, saved.settings, resolved, one);
    one.skipped = saved.skipped;
    one.runs = std::move(saved.runs);
  }
}

void resume_sweep(const std::string& path, Experiment& experiment) {
  std::ifstream input = open_sweep(path);
  resume_sweep(input, path, experiment);
}

void resume_sweep(std::istream& input, const std::string& path, Experiment& experiment) {
  const JsonNode root = read_json(input, path, {});
  const JsonCursor document(root, path);
  check_schema(document, path);
  JsonReader form(document, kMaxOfRun);
  Given given;
  describe_given(form, given);
  const std::string differs = difference(given, given_settings(experiment));
  if (!differs.empty()) {
    throw UsageError("--resume " + path + ": " + differs,
                     "resume with the same settings, or begin a new sweep");
  }
  std::vector<SweptCase> cases;
  describe_cases(form, cases);
  const JsonCursor saved = document.at("cases");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!cases[i].runs.empty()) adopt(cases[i], saved.item(i), experiment);
  }
}

}  // namespace loaderscope
