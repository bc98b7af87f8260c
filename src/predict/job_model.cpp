// The model of a run, run as a job over many machines.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/epochs.h"
#include "base/arithmetic.h"
#include "engine/pipeline/fitted_costs.h"
#include "predict/fitted_model.h"
#include "predict/prediction_window.h"
#include "predict/storage_fit.h"

namespace loaderscope {

namespace {

// A program with untimed samples may read the samples of a batch at once or one after another. The
// model assumes the faster case.
void note_latency_of_batches(const FittedCosts& costs, const SharedStorage& storage,
                             Prediction& prediction) {
  std::int64_t samples = 0;
  for (const FittedCosts::Rank& rank : costs.ranks)
    samples = std::max(samples, rank.samples_per_row);
  if (costs.requests || storage.latency <= 0 || samples <= 1) return;
  prediction.notes.push_back(fmt::format(
      "at most: the run saw whole batches of this program, and each is taken to wait once for the "
      "first byte ({}); a data set that reads its {} samples one after another waits {}",
      format_duration(storage.latency), samples, format_duration(samples * storage.latency)));
}

void take_no_compute(FittedCosts& costs, RunConfig& config) {
  config.trainer.compute.value = {};
  costs.compute_threads = 0;
  for (FittedCosts::Rank& rank : costs.ranks) {
    rank.stages[Stage::compute] = rank.last_compute = {};
    rank.overlapped_work = {};
  }
}

bool drops_all(const RunConfig& config) {
  return config.loader.drop_last &&
         divide_up(config.data.samples.value, config.trainer.ranks.value) <
             config.loader.batch_size;
}

// Sets the window to whole epochs, with their starts, if it has room for one. Returns false if it
// has no room, or if the data has no end.
bool runs_whole_epochs(RunConfig& config, std::int64_t longest) {
  const std::int64_t epoch = steps_of_epoch(config);
  if (epoch == 0 || epoch > std::max(config.measure.steps.value, longest) || drops_all(config))
    return false;
  const auto whole = [&](std::int64_t steps) { return divide_up(steps, epoch) * epoch; };
  model::set_window(config,
                    {whole(config.measure.warmup.value.steps), whole(config.measure.steps)});
  config.measure.epochs.value = 0;
  return true;
}

void run_whole_epochs_or_none(RunConfig& config, std::int64_t longest) {
  if (runs_whole_epochs(config, longest)) return;
  config.data.samples.value = 0;
  config.loader.shuffle_buffer.value = 0;
}

}  // namespace

Prediction FittedModel::predict_job(const JobHosts& hosts,
                                    const std::optional<SharedStorage>& storage,
                                    const Changes& changes, std::int64_t steps,
                                    std::int64_t longest_epoch) const {
  auto [costs, prediction] = make_case(changes);
  costs.hosts = hosts;
  if (storage) {
    model::replace_storage(costs, prediction.config, *storage);
    note_latency_of_batches(costs, *storage, prediction);
  }
  set_window_after_warmup(prediction.config, steps);
  run_whole_epochs_or_none(prediction.config, longest_epoch);
  return run(std::move(prediction), costs);
}

LoaderAlone FittedModel::loader_alone(const std::optional<SharedStorage>& storage,
                                      const Changes& changes, std::int64_t steps) const {
  auto [costs, prediction] = make_case(changes);
  RunConfig& config = prediction.config;
  if (storage) model::replace_storage(costs, config, *storage);
  LoaderAlone alone;
  alone.storage_rate = storage ? storage->bandwidth : model::shared_storage_rate(costs, config);
  model::read_alone(costs, config);
  take_no_compute(costs, config);
  set_window_after_warmup(config, steps);
  run_whole_epochs_or_none(config, 0);
  alone.record = simulate(config, costs, {Stage::compute});
  alone.request_bytes = model::bytes_in_requests(costs);
  return alone;
}

}  // namespace loaderscope
