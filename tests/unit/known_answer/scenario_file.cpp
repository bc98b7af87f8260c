#include "unit/known_answer/scenario_file.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "engine/model/model_engine.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope::known_answer {
namespace {

namespace fs = std::filesystem;

// Removes `word` from the front of `text`. Returns false if `text` does not begin with `word`.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

FindingPromise finding_promise(std::string_view text) {
  FindingPromise promise;
  constexpr std::string_view kLeadsTo = " leads to ";
  if (const auto at = text.find(kLeadsTo); at != text.npos) {
    promise.leads_to = text.substr(at + kLeadsTo.size());
    text = text.substr(0, at);
  }
  const auto space = std::min(text.find(' '), text.size());
  promise.id = text.substr(0, space);
  promise.changes = text.substr(std::min(space + 1, text.size()));
  return promise;
}

Changes parse_changes(std::string_view text) {
  std::istringstream words{std::string(text)};
  Changes changes;
  for (std::string word; words >> word;) changes.push_back(parse_change(word));
  return changes;
}

void add_promise(std::string_view text, ScenarioFile& file) {
  if (take(text, "in native finding ")) {
    file.finding_in_native = text;
  } else if (take(text, "in native ")) {
    file.largest_in_native = text;
  } else if (take(text, "also with ")) {
    file.also_with = parse_changes(text);
  } else if (take(text, "finding ")) {
    file.findings.push_back(finding_promise(text));
  } else if (text.find_first_of("<>=!") != text.npos) {
    file.conditions.emplace_back(text);
  } else if (file.bound_by.empty()) {
    file.bound_by = text;
  } else {
    throw UsageError(file.name + ": bound by '" + file.bound_by + "' and by '" + std::string(text) +
                     "'");
  }
}

}  // namespace

std::string scenario_folder() { return LOADERSCOPE_SOURCE_DIR "/scenarios"; }

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(scenario_folder())) {
    if (entry.path().extension() == ".conf") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string name_of_file(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

ScenarioFile read_scenario_file(const std::string& name) {
  ScenarioFile file;
  file.name = name;
  const Scenario scenario = read_scenario(scenario_folder() + "/" + name + ".conf", file.given);
  for (const std::string& promise : scenario.expect) add_promise(promise, file);
  return file;
}

ScenarioRun run_in_model(const RunConfig& given, double cores_of_machine) {
  std::vector<std::string> notes;
  ScenarioRun run;
  run.record = run_model(resolve_to_predict(given, MachineLimits{cores_of_machine}, notes), {});
  run.analysis = analyse(run.record);
  return run;
}

std::optional<std::string> next_of_ladder(const std::string& name) {
  for (auto dash = name.find('-'); dash != name.npos; dash = name.find('-', dash + 1)) {
    const auto end = name.find('-', dash + 1);
    if (end != dash + 2 || name[dash + 1] < '1' || name[dash + 1] > '8') continue;
    std::string prefix = name.substr(0, dash + 3);
    ++prefix[dash + 1];
    for (const std::string& other : scenario_names())
      if (other.starts_with(prefix)) return other;
  }
  return std::nullopt;
}

}  // namespace loaderscope::known_answer
