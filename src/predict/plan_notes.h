// Assumptions and limits of a plan.
#pragma once

#include "loaderscope/analysis.h"
#include "predict/job_plan.h"

namespace loaderscope {

// Appends notes to those of the model. `needs`: needs of the plan's job.
void add_plan_notes(JobPlan& plan, const RunRecord& record, const Analysis& analysis,
                    const JobNeeds& needs);

}  // namespace loaderscope
