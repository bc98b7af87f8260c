// The profile of this machine that `probe --save` keeps, and what others take of it.
#pragma once

#include <string>
#include <vector>

#include "analysis/machine_ceilings.h"
#include "report/results.h"

namespace loaderscope {

// Keeps the profile for its machine. Returns the path. Throws RunError if it cannot be written.
std::string save_machine(const probe::Profile& profile);

// Reads the profile `given` by --machine, or the saved profile. Returns nothing, and adds a note,
// if it is not for `machine`. The storage rate counts if `data` is on the probed device. Throws
// UsageError, and RunError if a given file cannot be read.
ProbedRates known_rates(const std::string& given, const MachineFacts& machine,
                        const DataConfig& data, std::vector<std::string>& notes);

// Adds the rates to the record of a real run.
void add_known_rates(const ProbedRates& rates, RunRecord& record);

}  // namespace loaderscope
