// Costs of the work that changes move to the GPU: settings that go with the changes, so that a
// prediction and a run have the same.
#pragma once

#include <string>
#include <vector>

#include "analysis/first_workers.h"
#include "analysis/gpu_rates.h"
#include "loaderscope/run_config.h"
#include "record/environment_changes.h"

namespace loaderscope::model {

// The stream of the GPU on which it works for the loader.
enum class GpuStream : std::uint8_t {
  own,      // the training continues meanwhile
  training  // the training waits, as for decode_jpeg(device="cuda") in the training process
};

struct GpuCosts {
  Changes added;                   // settings besides the changes
  std::vector<std::string> notes;  // sources of the times
  bool is_uncertain = false;       // `Amount` makes a difference
  bool follows_training = false;   // `added` puts the work on the stream of the training
};

// Returns true if the changes give the value of that word.
bool names_rate(const Changes& changes, WorldWord word);

// Returns the costs that `changes` need and do not give. `before` and `after` are the settings of
// the run without and with the changes, before they are resolved. Throws UsageError if a time is
// unknown.
GpuCosts gpu_costs(const GpuRates& rates, const std::string& gpus, const RunConfig& before,
                   const RunConfig& after, const Changes& changes, GpuStream stream, Amount amount);

}  // namespace loaderscope::model
