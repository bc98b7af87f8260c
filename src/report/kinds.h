// Kinds of results other than runs: their text and their members.
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
#include "report/writers.h"
#include "watch/watch.h"

namespace loaderscope {

// --- Sweep: text, JSON, and reading of a saved sweep.

void write_sweep_text(TextReport& reading, const Experiment& experiment, const ReportStyle& style);
std::string draw_sweep(const Experiment& experiment);
void describe_sweep(ResultVisitor& form, Experiment& experiment);

// Fills the cases of `experiment` with the runs that were saved at `path`. Throws RunError if the
// file is no sweep. Throws UsageError, which names the first difference, if the sweep has another
// base case or other axes.
void resume_sweep(const std::string& path, Experiment& experiment);
// The same of a document; `place` names it in messages.
void resume_sweep(std::istream& input, const std::string& place, Experiment& experiment);

// --- Tune: text and JSON.

void write_tune_text(TextReport& reading, const Tune& tune, const ReportStyle& style);
std::string draw_tune(const Tune& tune);
void describe_tune(ResultVisitor& form, Tune& tune);

// The recommended settings as PyTorch and DALI write them.
// The settings are those of a DataLoader; else they are those of a pipeline of DALI.
bool is_for_data_loader(const RunConfig& config);
std::string data_loader_call(const RunConfig& config);
std::string dali_arguments(const RunConfig& config);

// --- Plan: text and members.

void write_plan_text(TextReport& reading, const JobPlan& plan, const ReportStyle& style);
std::string draw_plan(const JobPlan& plan);
void describe_plan(ResultVisitor& form, JobPlan& plan);

// --- Self-test: text and JSON.

void write_selftest_text(TextReport& reading, const selftest::Result& result,
                         const ReportStyle& style);
std::string draw_selftest(const selftest::Result& result);
void describe_selftest(ResultVisitor& form, selftest::Result& result);

}  // namespace loaderscope

namespace loaderscope::compare {

// --- Comparison: text and JSON.

void write_comparison_text(TextReport& reading, const Comparison& comparison,
                           const ReportStyle& style);
std::string draw_comparison(const Comparison& comparison);
void describe_comparison(ResultVisitor& form, Comparison& comparison);

// Other forms of a gate: one comment that is rewritten, tests, and lines of the changed files on
// GitHub.
void summarize_comparison(MarkdownPage& page, const AnyResult& result);
JUnitSuite comparison_tests(const AnyResult& result);
void write_comparison_annotations(std::ostream& out, const AnyResult& result);

}  // namespace loaderscope::compare

namespace loaderscope::probe {

// --- Link matrix: text and JSON.

void write_link_text(TextReport& reading, const LinkMatrix& matrix, const ReportStyle& style);
std::string draw_link(const LinkMatrix& matrix);
void describe_link(ResultVisitor& form, LinkMatrix& matrix);

// --- Machine profile: text and JSON.

void write_profile_text(TextReport& reading, const Profile& profile, const ReportStyle& style);
std::string draw_profile(const Profile& profile);
void describe_profile(ResultVisitor& form, Profile& profile);

// A saved profile, or the profiles of a list in one file. Reading throws RunError if the file is
// cut off, has another schema, or has impossible values.
struct SavedProfile {
  Profile profile;
  std::string tool_version;
};
std::vector<SavedProfile> read_profiles(const std::string& path);
std::vector<SavedProfile> parse_profiles(std::istream& input, const std::string& place);

}  // namespace loaderscope::probe

namespace loaderscope::watch {

// --- Watched job: text and JSON.

void write_watch_text(TextReport& reading, const Watch& watch, const ReportStyle& style);
std::string draw_watch(const Watch& watch);
void describe_watch(ResultVisitor& form, Watch& watch);

}  // namespace loaderscope::watch

namespace loaderscope::dataset {

// --- Data set, and the differences between two data sets: text and JSON.

void write_info_text(TextReport& reading, const DatasetInfo& info, const ReportStyle& style);
std::string draw_info(const DatasetInfo& info);
void describe_info(ResultVisitor& form, DatasetInfo& info);

void write_drift_text(TextReport& reading, const Drift& drift, const ReportStyle& style);
std::string draw_drift(const Drift& drift);
void describe_drift(ResultVisitor& form, Drift& drift);

}  // namespace loaderscope::dataset
