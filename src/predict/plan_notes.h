// What a plan rests on, and how far it goes.
#pragma once

#include "loaderscope/analysis.h"
#include "predict/job_plan.h"

namespace loaderscope {

// Behind those of the model. `needs`: of the plan's job.
void add_plan_notes(JobPlan& plan, const RunRecord& record, const Analysis& analysis,
                    const JobNeeds& needs);

}  // namespace loaderscope
