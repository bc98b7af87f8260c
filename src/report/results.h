// Results of all kinds, for the rows of report_table().
#pragma once

#include "dataset/drift.h"
#include "experiment/compare/compare.h"
#include "experiment/selftest/selftest.h"
#include "experiment/tune.h"
#include "loaderscope/report.h"
#include "predict/job_plan.h"
#include "probe/link.h"
#include "probe/profile.h"
#include "report/what_if_report.h"
#include "watch/watch.h"

namespace loaderscope {

AnyResult make_result(const RunRecord& record, const Analysis& analysis);
// The same without what is long: ranks, steps, reservoir and exemplars.
AnyResult default_answer(const RunRecord& record, const Analysis& analysis);
AnyResult default_answer(const AnyResult& result);
AnyResult make_result(const Experiment& sweep, std::string_view tool_version);
AnyResult make_result(const Tune& tune, std::string_view tool_version);
AnyResult make_result(const compare::Comparison& comparison, std::string_view tool_version);
AnyResult make_result(const WhatIf& answer, std::string_view tool_version);
AnyResult make_result(const JobPlan& plan, std::string_view tool_version);
AnyResult make_result(const selftest::Result& result, std::string_view tool_version);
AnyResult make_result(const probe::LinkMatrix& matrix, std::string_view tool_version);
AnyResult make_result(const probe::Profile& profile, std::string_view tool_version);
AnyResult make_result(const watch::Watch& watch, std::string_view tool_version);
AnyResult make_result(const dataset::DatasetInfo& info, std::string_view tool_version);
AnyResult make_result(const dataset::Drift& drift, std::string_view tool_version);

}  // namespace loaderscope
