// The default answers of all kinds of results.
#pragma once

#include "report/answer/answer.h"
#include "report/results.h"

namespace loaderscope {

Answer answer_run(const RunRecord& record, const Analysis& analysis);
Answer answer_sweep(const Experiment& sweep);
Answer answer_tune(const Tune& tune);
Answer answer_what_if(const WhatIf& what_if);
Answer answer_plan(const JobPlan& plan);
Answer answer_selftest(const selftest::Result& result);

}  // namespace loaderscope

namespace loaderscope::compare {
Answer answer_comparison(const Comparison& comparison);
}  // namespace loaderscope::compare

namespace loaderscope::probe {
Answer answer_link(const LinkMatrix& matrix);
Answer answer_profile(const Profile& profile);
}  // namespace loaderscope::probe

namespace loaderscope::watch {
Answer answer_watch(const Watch& watch);
}  // namespace loaderscope::watch

namespace loaderscope::dataset {
Answer answer_info(const DatasetInfo& info);
Answer answer_drift(const Drift& drift);
}  // namespace loaderscope::dataset
