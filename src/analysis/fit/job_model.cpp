// The model of a run, run as a job over many machines.
#include "analysis/fit/fitted_model.h"
#include "analysis/fit/prediction_window.h"
#include "analysis/fit/storage_fit.h"
#include "engine/pipeline/fitted_costs.h"
#include "settings/batches_ahead.h"

namespace loaderscope {

Prediction FittedModel::predict_job(const JobHosts& hosts,
                                    const std::optional<SharedStorage>& storage,
                                    const Changes& changes, std::int64_t steps) const {
  refuse_unknown(changes);
  Prediction prediction;
  FittedCosts costs = *costs_;
  prediction.config = model_config(changes, costs, prediction);
  costs.hosts = hosts;
  if (storage) model::replace_storage(costs, prediction.config, *storage);
  prediction.config.data.samples.value = 0;
  prediction.config.loader.shuffle_buffer.value = 0;
  set_window(prediction.config, {warmup_ + batches_ahead(prediction.config), steps});
  return run(std::move(prediction), costs);
}

}  // namespace loaderscope
