// Work that the first workers of somebody else's program bring along, and that no run without
// workers has measured.
#pragma once

#include <string>

#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/run_config.h"
#include "loaderscope/run_record.h"

namespace loaderscope::model {

// Least and most of what was seen in other programs, and the usual amount.
enum class Amount { least, usual, most };

FittedCosts::Batch batch_of(const RunRecord& record);
// ns of a batch, or of a start. 0: first workers bring nothing of that stage along.
double brought_by_first_workers(Stage stage, const FittedCosts::Batch& batch,
                                Amount amount = Amount::usual);

// Whether `config` has workers, `base` has none, and nobody measured or declared what they bring.
bool has_first_workers(const RunConfig& base, const RunConfig& config, const FittedCosts& costs);
// Declares in `config` what nobody has measured of it.
void declare_first_workers(const FittedCosts& costs, Amount amount, RunConfig& config);
// How the amounts are said.
std::string first_workers_note(const FittedCosts::Batch& batch);

}  // namespace loaderscope::model
