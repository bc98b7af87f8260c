// The profile of this machine that `probe --save` keeps, and what others take of it.
#pragma once

#include <string>
#include <vector>

#include "analysis/machine_ceilings.h"
#include "report/results.h"

namespace loaderscope {

// Keeps it for the machine that it names. Returns where; throws RunError where that cannot be.
std::string save_machine(const probe::Profile& profile);

// Reads the profile `given` by --machine, or the one that is kept. Returns nothing if it is not
// of `machine`, which a note says. Storage counts where `data` lie on the device that was probed.
// Throws UsageError, and RunError where a file that was given cannot be read.
ProbedRates known_rates(const std::string& given, const MachineFacts& machine,
                        const DataConfig& data, std::vector<std::string>& notes);

// Adds the rates to the record of a real run.
void add_known_rates(const ProbedRates& rates, RunRecord& record);

}  // namespace loaderscope
