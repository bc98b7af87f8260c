// The model of a run, run as a job over many machines.
#include <algorithm>
#include <cmath>

#include "analysis/fit/fitted_model.h"
#include "analysis/fit/prediction_window.h"
#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/errors.h"
#include "settings/batches_ahead.h"

namespace loaderscope {
namespace {

// What they waited behind each other was that of another link.
void read_requests_from(const SharedStorage& storage, FittedCosts::Requests& requests) {
  requests.latency = static_cast<double>(storage.latency);
  requests.queueing = requests.per_byte = 0;
  requests.link_per_byte = static_cast<double>(kSecond) / storage.bandwidth;
}

// Each read waits for its first byte, and then shares the storage with all others.
void read_samples_from(const SharedStorage& storage, FittedCosts& costs) {
  Bytes bytes = 0;
  for (FittedCosts::Rank& rank : costs.ranks) {
    for (FittedCosts::Sample& sample : rank.samples) {
      StageTime& read = sample.stages.front();
      read.waits = storage.latency;
      read.transfers = transfer_time(sample.bytes, storage.bandwidth);
      bytes += sample.bytes;
    }
  }
  costs.storage_streams = 1;
  if (bytes == 0)
    throw RunError(
        "the run does not say how many bytes a sample has, so --storage cannot be answered; "
        "measure one that reads its files where loaderscope sees it");
}

void read_from(const SharedStorage& storage, FittedCosts& costs, RunConfig& config) {
  if (costs.requests) return read_requests_from(storage, *costs.requests);
  if (costs.has_samples()) return read_samples_from(storage, costs);
  std::erase_if(config.declared.cost.value,
                [](const Cost& cost) { return cost.stage == Stage::read; });
  config.declared.storage_latency.set(storage.latency);
  config.declared.storage_bandwidth.set(storage.bandwidth);
}

}  // namespace

Prediction FittedModel::predict_job(const JobHosts& hosts, const Changes& changes,
                                    std::int64_t steps) const {
  refuse_unknown(changes);
  Prediction prediction;
  FittedCosts costs = *costs_;
  prediction.config = model_config(changes, costs, prediction);
  costs.hosts = {hosts.count, hosts.decode_cores, hosts.decode_rate, hosts.apart};
  if (hosts.storage) read_from(*hosts.storage, costs, prediction.config);
  prediction.config.data.samples.value = 0;
  prediction.config.loader.shuffle_buffer.value = 0;
  set_window(prediction.config, {warmup_ + batches_ahead(prediction.config), steps});
  return run(std::move(prediction), costs);
}

}  // namespace loaderscope
