// Limits of the model: results that it cannot predict from, and notes on predictions that go beyond
// the measurements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/predict.h"
#include "loaderscope/run_record.h"

namespace loaderscope::model {

// These throw RunError with an alternative.
void refuse_unpredictable(const RunRecord& record);
void refuse_trace(std::string_view engine);
void refuse_large_steps(const RunConfig& config);

// Limits the workers to the shards of a stream. A worker without a shard ends at once, and its
// tasks go to the others. 0 shards: unknown.
void give_shards_to_workers(RunConfig& config, std::int64_t shards,
                            std::vector<std::string>& notes);

// Notes what `prediction.config` needs and `base` did not measure. `is_user_code`: it is unknown
// what the workers share.
void note_extrapolation(const RunConfig& base, const FittedCosts& costs, bool is_user_code,
                        Prediction& prediction);

// Notes that the compute time per step is assumed to stay for another batch size, if `changes` do
// not set it.
void note_same_compute(const RunConfig& base, const RunConfig& config, const FittedCosts& costs,
                       const Changes& changes, std::vector<std::string>& notes);

// Notes, for a program on a GPU, that with more workers the rate may depend on the speed of its
// launches. These were measured with fewer workers only.
void note_launching(const FittedCosts& costs, const Prediction& base, Prediction& prediction);

// Notes, for training on the cores, that a slow-down was not measured. It applies if the compute of
// `prediction` is much slower than that of `base`, or if another number of workers shares the cores
// with a compute that they already slowed down.
void note_shared_cores(const FittedCosts& costs, const Prediction& base, Prediction& prediction);

}  // namespace loaderscope::model
