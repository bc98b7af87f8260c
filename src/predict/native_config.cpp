#include "predict/native_config.h"

#include <string_view>
#include <vector>

#include "analysis/epochs.h"
#include "loaderscope/run_config.h"
#include "loaderscope/settings.h"

namespace loaderscope::model {

namespace {

// Gives data without a length, such as an iterable data set, the length of the epochs that were
// seen, if their batches are whole. The workers start again in each of them.
void put_seen_epoch(const RunRecord& seen, RunConfig& config) {
  if (config.data.samples > 0 || seen.ranks.empty()) return;
  const RankRecord& rank = seen.ranks.front();
  const std::int64_t steps = steps_of_seen_epoch(rank);
  const std::int64_t batch = sane_count(config.loader.batch_size);
  if (steps == 0 || rank.samples < rank.steps() * batch) return;
  config.data.samples.value = steps * batch * sane_count(config.trainer.ranks);
  config.loader.drop_last.value = true;
}

}  // namespace

RunConfig to_native_config(const RunRecord& of) {
  const RunConfig& seen = of.config;
  RunConfig config = seen;
  put_seen_epoch(of, config);
  config.program.command = {};
  config.program.loader = config.program.train_step = {};
  // The measured times include these injections, and the model has no name for this stage.
  std::erase_if(config.declared.inject.value,
                [](const Injection& injection) { return injection.stage == Stage::opaque; });
  config.data.paths = {};
  config.image.size = RunConfig().image.size;
  config.loader.pin_memory = {};  // the observed memory shows its effect
  std::vector<std::string_view> observed = {"num-workers", "batch-size",   "memory",
                                            "in-order",    "stored-bytes", "delivered-bytes"};
  if (config.loader.num_workers > 0) observed.push_back("prefetch-factor");
  if (config.data.samples > 0) observed.push_back("samples");
  if (config.loader.shuffle) observed.push_back("shuffle");
  if (config.loader.drop_last && config.data.samples > 0) observed.push_back("drop-last");
  if (config.loader.persistent_workers) observed.push_back("persistent-workers");
  if (config.trainer.ranks > 1) observed.push_back("ranks");
  if (config.trainer.compute.value.mean > 0) observed.push_back("compute");
  // A program whose own thread computes does nothing else meanwhile: neither does it take a batch.
  if (device_kind(seen.trainer.device.value) == DeviceKind::program) {
    config.trainer.in_flight.value = 1;
    observed.push_back("in-flight");
  }
  for (const std::string_view name : observed) find_field(name)->mark_given(config, true);
  return config;
}

}  // namespace loaderscope::model
