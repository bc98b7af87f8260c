// The model of a run, run as a job over many machines.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/epochs.h"
#include "analysis/fit/fitted_model.h"
#include "analysis/fit/prediction_window.h"
#include "analysis/fit/storage_fit.h"
#include "base/divide_up.h"
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

bool drops_all(const RunConfig& config) {
  return config.loader.drop_last &&
         divide_up(config.data.samples.value, config.trainer.ranks.value) <
             config.loader.batch_size;
}

// Makes the window one of whole epochs, with how each begins, where it has room for one. False: it
// has none, or the data has no end.
bool runs_whole_epochs(RunConfig& config) {
  const std::int64_t epoch = steps_of_epoch(config);
  if (epoch == 0 || epoch > config.measure.steps || drops_all(config)) return false;
  const auto whole = [&](std::int64_t steps) { return divide_up(steps, epoch) * epoch; };
  model::set_window(config,
                    {whole(config.measure.warmup.value.steps), whole(config.measure.steps)});
  config.measure.epochs.value = 0;
  return true;
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
  set_window_behind_warmup(prediction.config, steps);
  if (!runs_whole_epochs(prediction.config)) {
    prediction.config.data.samples.value = 0;
    prediction.config.loader.shuffle_buffer.value = 0;
  }
  return run(std::move(prediction), costs);
}

}  // namespace loaderscope
