// Parts that the results of sweep and tune share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loaderscope/experiment.h"
#include "report/result_visitor.h"

namespace loaderscope {

template <class Item>
using Entries = std::vector<std::pair<std::string, Item>>;

// The base case and the axes, as given.
struct Given {
  Entries<std::vector<std::string>> base, axes;
  bool one_at_a_time = false;
};
Given given_settings(const Experiment& experiment);
void describe_given(ResultVisitor& form, Given& given);
// TextReport: the base case and the axes of `experiment` are as given.
void take_given(ResultVisitor& form, const Given& given, Experiment& experiment);
// Returns the difference: "compute is 12ms there and 14ms here", or "".
std::string difference(const Given& there, const Given& here);

// Value of a case on each axis; empty if the case has no value.
using AxisValues = Entries<std::optional<std::string>>;
AxisValues axis_values(const Experiment& experiment, const Case& one);
void describe_values(ResultVisitor& form, AxisValues& values);

// Changes of a case to the base case, and its settings in force.
struct CaseSettings {
  Entries<std::string> changes;
  // Settings that differ from resolved_config() the experiment. Empty if the case could not be
  // resolved.
  std::optional<Entries<std::vector<std::string>>> differing;
};
RunConfig resolved_config(const Experiment& experiment);  // settings of the first case that was
                                                          // resolved
CaseSettings case_settings(const Case& one, const RunConfig& resolved);
void describe_case_settings(ResultVisitor& form, CaseSettings& settings);
// TextReport: fills its changes and its configuration.
void take_settings(ResultVisitor& form, const CaseSettings& settings, const RunConfig& resolved,
                   Case& one);

void describe_estimate(ResultVisitor& form, ResultVisitor::Name name,
                       std::optional<Estimate>& estimate);
// Bounds within which a thousand runs, the most that are read, can be added up.
inline constexpr std::int64_t kMaxOfRun = std::int64_t{1} << 50;  // steps, samples, bytes, ns
void describe_runs(ResultVisitor& form, std::vector<CaseRun>& runs);

// Describes the index of a case; null if there is no case.
void describe_index(ResultVisitor& form, ResultVisitor::Name name,
                    std::optional<std::size_t>& index, ResultVisitor::Sentence sentence);
void describe_stops(ResultVisitor& form, Experiment& experiment);  // reasons for an early end
void describe_data(ResultVisitor& form, Experiment& experiment);
void describe_notes(ResultVisitor& form, Experiment& experiment);

}  // namespace loaderscope
