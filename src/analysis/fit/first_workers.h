// Work that the first workers of somebody else's program bring along, and that no run without
// workers has measured.
#pragma once

#include <string>
#include <vector>

#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/run_config.h"

namespace loaderscope::model {

// Least and most of what was seen in other programs, and the usual amount.
enum class Amount { least, usual, most };

// Whether `config` has workers, `base` has none, and nobody measured or declared what they bring.
bool has_first_workers(const RunConfig& base, const RunConfig& config, const FittedCosts& costs);
// Declares in `config` what nobody has measured of it.
void declare_first_workers(const FittedCosts& costs, Amount amount, RunConfig& config);
// How the amounts are said.
std::string first_workers_note();

}  // namespace loaderscope::model
