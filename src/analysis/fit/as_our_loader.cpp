#include "analysis/fit/as_our_loader.h"

#include <string_view>
#include <vector>

#include "loaderscope/device.h"
#include "loaderscope/settings.h"

namespace loaderscope::model {

RunConfig as_our_loader(const RunConfig& seen) {
  RunConfig config = seen;
  config.program.command = {};
  config.program.loader = config.program.train_step = {};
  // They are in what was measured; the model has no name for this one.
  std::erase_if(config.declared.inject.value,
                [](const Injection& injection) { return injection.stage == Stage::opaque; });
  config.data.paths = {};
  config.image.size = RunConfig().image.size;
  config.loader.pin_memory = {};  // what came of it is the memory that was seen
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
