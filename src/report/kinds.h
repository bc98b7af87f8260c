// What each kind of result but a run says: for people, and member by member.
#pragma once

#include <istream>
#include <ostream>
#include <string_view>

#include "dataset/drift.h"
#include "experiment/compare/compare.h"
#include "experiment/selftest/selftest.h"
#include "experiment/tune.h"
#include "loaderscope/experiment.h"
#include "loaderscope/report.h"
#include "predict/job_plan.h"
#include "probe/link.h"
#include "probe/profile.h"
#include "report/result_visitor.h"
#include "watch/watch.h"

namespace loaderscope {

// --- What a sweep says, for people and as JSON, and a saved one read back.

void write_sweep_text(TextReport& reading, const Experiment& experiment, const ReportStyle& style);
std::string draw_sweep(const Experiment& experiment);
void describe_sweep(ResultVisitor& form, Experiment& experiment);

// Fills the cases of `experiment` with the runs that were saved at `path`. Throws RunError when
// that is no sweep, UsageError when it is one of another base case or other axes, naming the first
// difference.
void resume_sweep(const std::string& path, Experiment& experiment);
// The same of a document; `place` names it in messages.
void resume_sweep(std::istream& in, const std::string& place, Experiment& experiment);

// --- What a tune says, for people and as JSON.

void write_tune_text(TextReport& reading, const Tune& tune, const ReportStyle& style);
std::string draw_tune(const Tune& tune);
void describe_tune(ResultVisitor& form, Tune& tune);

// The recommended settings as PyTorch and DALI write them.
// The settings are those of a DataLoader; else they are those of a pipeline of DALI.
bool is_for_data_loader(const RunConfig& config);
std::string data_loader_call(const RunConfig& config);
std::string dali_arguments(const RunConfig& config);

// --- What a plan says, for people and member by member.

void tell_plan(TextReport& reading, const JobPlan& plan, const ReportStyle& style);
std::string draw_plan(const JobPlan& plan);
void describe_plan(ResultVisitor& form, JobPlan& plan);

// --- What the self-test found, for people and as JSON.

void tell_selftest(TextReport& reading, const selftest::Result& result, const ReportStyle& style);
std::string draw_selftest(const selftest::Result& result);
void describe_selftest(ResultVisitor& form, selftest::Result& result);

}  // namespace loaderscope

namespace loaderscope::compare {

// --- What a comparison says, for people and as JSON.

void tell_comparison(TextReport& reading, const Comparison& comparison, const ReportStyle& style);
std::string draw_comparison(const Comparison& comparison);
void describe_comparison(ResultVisitor& form, Comparison& comparison);

// In the other forms of a gate: for one comment that is rewritten, for tests, and for lines of the
// changed files on GitHub.
void write_comparison_markdown(std::ostream& out, const Comparison& comparison);
void write_comparison_junit(std::ostream& out, const Comparison& comparison);
void write_comparison_annotations(std::ostream& out, const Comparison& comparison);

}  // namespace loaderscope::compare

namespace loaderscope::probe {

// --- What the link matrix says, for people and as JSON.

void tell_link(TextReport& reading, const LinkMatrix& matrix, const ReportStyle& style);
std::string draw_link(const LinkMatrix& matrix);
void describe_link(ResultVisitor& form, LinkMatrix& matrix);

// --- What the profile of a machine says, for people and as JSON.

void tell_profile(TextReport& reading, const Profile& profile, const ReportStyle& style);
std::string draw_profile(const Profile& profile);
void describe_profile(ResultVisitor& form, Profile& profile);

// A saved one read back, or those of a list in one file. Throws RunError: cut off, of another
// schema, or values that cannot be.
struct SavedProfile {
  Profile profile;
  std::string tool_version;
};
std::vector<SavedProfile> read_profiles(const std::string& path);
std::vector<SavedProfile> parse_profiles(std::istream& in, const std::string& place);

}  // namespace loaderscope::probe

namespace loaderscope::watch {

// --- What a job does that is watched from outside, for people and as JSON.

void tell_watch(TextReport& reading, const Watch& watch, const ReportStyle& style);
std::string draw_watch(const Watch& watch);
void describe_watch(ResultVisitor& form, Watch& watch);

}  // namespace loaderscope::watch

namespace loaderscope::dataset {

// --- What is in a data set, and in what two differ, for people and as JSON.

void tell_info(TextReport& reading, const DatasetInfo& info, const ReportStyle& style);
std::string draw_info(const DatasetInfo& info);
void describe_info(ResultVisitor& form, DatasetInfo& info);

void tell_drift(TextReport& reading, const Drift& drift, const ReportStyle& style);
std::string draw_drift(const Drift& drift);
void describe_drift(ResultVisitor& form, Drift& drift);

}  // namespace loaderscope::dataset
