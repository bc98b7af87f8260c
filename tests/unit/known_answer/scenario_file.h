// The files in scenarios/, and what they promise in their "# expect:" lines:
//   decode                        verdict.bound_by
//   device.busy == 50 %           a condition on the result, as of --require
//   finding ID [CHANGES]          the first finding, and its settings; a second such line is of the
//       [leads to FILE]           second finding. FILE is what the file becomes with them
//   in native decode              the largest cause, also in the native engine; or a finding
//   also with KEY=VALUE ...       all other lines hold with these settings too
// Files of one name with 1, 2, 3, ... in it are a ladder: each differs from the one before by the
// settings of one step, and the model predicts each from the one before.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/analysis.h"
#include "loaderscope/settings.h"

namespace loaderscope::known_answer {

struct FindingPromise {
  std::string id;
  std::string changes;   // text of changes_to_text(); "": any
  std::string leads_to;  // the name of a file; "": not said
};

struct ScenarioFile {
  std::string name;  // stem of the file name
  RunConfig given;
  std::string bound_by;
  std::vector<std::string> conditions;
  std::vector<FindingPromise> findings;
  std::string largest_in_native;  // a cause; "": the file is not for the native engine
  std::string finding_in_native;
  Changes also_with;
};

std::string scenario_folder();
std::vector<std::string> scenario_names();
std::string name_of_file(const testing::TestParamInfo<std::string>& info);  // name of a test
ScenarioFile read_scenario_file(const std::string& name);

struct ScenarioRun {
  RunRecord record;
  Analysis analysis;  // has no findings yet
};
ScenarioRun run_in_model(const RunConfig& given, double cores_of_machine = 2);

// The next file of its ladder; nothing for the last one and for what is no ladder.
std::optional<std::string> next_of_ladder(const std::string& name);

}  // namespace loaderscope::known_answer
