// Names of stages in the measured program: new and gone names, and names whose time changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/compare/compare.h"

namespace loaderscope::compare {

// "augment RandomErasing": what all runs of one arm have and no run of the other. Lines of code are
// none: a run names those that it was found at.
std::vector<std::string> names_only_in(const Comparison& comparison, std::int64_t arm);

// Returns the changes of a stage, or of the wait for it, the largest first. A line of code counts
// for its function.
std::vector<NameChange> name_changes(const Comparison& comparison, std::string_view blamed);

}  // namespace loaderscope::compare
