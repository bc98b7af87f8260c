#include "predict/rerun.h"

#include <algorithm>
#include <iterator>

#include "loaderscope/errors.h"
#include "predict/fitted_model.h"
#include "predict/refuse_unpredictable.h"
#include "record/environment_changes.h"
#include "record/family_traits.h"

namespace loaderscope {

MachineLimits limits_of(const RunConfig& in_force) {
  return {std::clamp(in_force.declared.cores.value, 1e-3, 65536.0)};
}

RunConfig rerun_settings(const RunConfig& in_force, const Changes& changes) {
  model::refuse_trace(in_force.engine.value);
  RunConfig config = counterfactual(in_force, changes);
  for (const Change& change : changes) {
    if (const std::optional<Speedup> speedup = speedup_of(change)) make_faster(config, *speedup);
    if (const auto world = world_change_of(change)) change_world(config, *world);
  }
  if (!is_guest_engine(in_force.engine.value)) {
    if (in_force.has_data()) config.data.source.set(in_force.data.source);
    config.trainer.device.set(in_force.trainer.device);
  }
  return config;
}

RunConfig rerun_config(const RunConfig& in_force, const Changes& changes) {
  std::vector<std::string> notes;
  return resolve(rerun_settings(in_force, changes), limits_of(in_force), notes);
}

RunConfig FittedModel::to_run(const Changes& named) const {
  refuse_unknown(named);
  Changes changes;
  std::transform(named.begin(), named.end(), std::back_inserter(changes), as_setting);
  for (const Change& change : changes) {
    if (change.key == kOtherThreads)
      throw UsageError("--verify: other-threads cannot be set here; end the other programs first");
    if (const auto world = world_change_of(change); world && costs_->has_samples())
      throw UsageError("--verify: " + change.key +
                       " cannot be set here, the storage is real; run it where it is so");
    const std::optional<Speedup> speedup = speedup_of(change);
    RunConfig declared = config_;
    if (!speedup || (!costs_->knows(speedup->stage) && make_faster(declared, *speedup))) continue;
    throw UsageError("--verify: " + change.key +
                     " cannot be run, the stage works for real; leave out one of them");
  }
  return rerun_config(measured_ ? *measured_ : config_, changes);
}

}  // namespace loaderscope
