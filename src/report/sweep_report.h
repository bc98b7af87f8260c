// What a sweep says, for people and as JSON, and a saved one read back.
#pragma once

#include <istream>
#include <ostream>

#include "loaderscope/experiment.h"
#include "loaderscope/report.h"
#include "report/form.h"

namespace loaderscope {

void write_sweep_table(std::ostream& out, const Experiment& experiment, const ReportStyle& style);
void write_sweep_json(std::ostream& out, const Experiment& experiment,
                      std::string_view tool_version);
void describe_sweep(Form& form, Experiment& experiment);

// Fills the cases of `experiment` with the runs that were saved at `path`. Throws RunError when
// that is no sweep, UsageError when it is one of another base case or other axes, naming the first
// difference.
void resume_sweep(const std::string& path, Experiment& experiment);
// The same of a document; `place` names it in messages.
void resume_sweep(std::istream& in, const std::string& place, Experiment& experiment);

}  // namespace loaderscope
