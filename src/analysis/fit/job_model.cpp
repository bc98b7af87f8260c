// The model of a run, run as a job over many machines.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/fit/fitted_model.h"
#include "analysis/fit/storage_fit.h"
#include "engine/pipeline/fitted_costs.h"

namespace loaderscope {

namespace {

// Of a program whose batches were not told apart it is not known whether it asks for a batch's
// samples at once or one after another: the shorter is taken.
void note_latency_of_batches(const FittedCosts& costs, const SharedStorage& storage,
                             Prediction& prediction) {
  std::int64_t samples = 0;
  for (const FittedCosts::Rank& rank : costs.ranks)
    samples = std::max(samples, rank.samples_per_row);
  if (costs.requests || storage.latency <= 0 || samples <= 1) return;
  prediction.is_bound = true;
  prediction.notes.push_back(fmt::format(
      "at most: the run saw whole batches of this program, and each is taken to wait once for the "
      "first byte ({}); a data set that reads its {} samples one after another waits {}",
      show_duration(storage.latency), samples, show_duration(samples * storage.latency)));
}

}  // namespace

Prediction FittedModel::predict_job(const JobHosts& hosts,
                                    const std::optional<SharedStorage>& storage,
                                    const Changes& changes, std::int64_t steps) const {
  auto [costs, prediction] = case_of(changes);
  costs.hosts = hosts;
  if (storage) {
    model::replace_storage(costs, prediction.config, *storage);
    note_latency_of_batches(costs, *storage, prediction);
  }
  prediction.config.data.samples.value = 0;
  prediction.config.loader.shuffle_buffer.value = 0;
  set_window_behind_warmup(prediction.config, steps);
  return run(std::move(prediction), costs);
}

}  // namespace loaderscope
