// The settings of a loader in the words of other loaders.
#include <fmt/format.h>

#include "record/family_traits.h"
#include "report/kinds.h"

namespace loaderscope {

namespace {

// PyTorch has no tasks of samples: as many batches on their way as with them.
std::int64_t depth_of_worker(const RunConfig& config) {
  if (config.loader.task != TaskShape::sample) return config.loader.prefetch_factor;
  const std::int64_t workers = std::max<std::int64_t>(1, config.loader.num_workers);
  return std::max<std::int64_t>(1, (config.loader.prefetch_depth + workers - 1) / workers);
}

}  // namespace

bool is_for_data_loader(const RunConfig& config) {
  const std::optional<GuestTraits> guest = guest_traits(config.engine.value);
  return !guest || guest->is_data_loader;
}

std::string data_loader_call(const RunConfig& config) {
  const bool workers = config.loader.executor != Executor::inline_;
  std::string text = fmt::format("DataLoader(ds, batch_size={}, num_workers={}",
                                 config.loader.batch_size.value, config.loader.num_workers.value);
  if (workers) text += fmt::format(", prefetch_factor={}", depth_of_worker(config));
  if (config.loader.memory != MemoryMode::pageable) text += ", pin_memory=True";
  // Threads stay over epochs.
  if (workers && (config.loader.persistent_workers || config.loader.executor == Executor::threads))
    text += ", persistent_workers=True";
  if (workers && !config.loader.in_order) text += ", in_order=False";
  return text + (config.loader.drop_last ? ", drop_last=True)" : ")");
}

// DALI has threads that share the samples of a batch, and at least one.
std::string dali_arguments(const RunConfig& config) {
  return fmt::format(
      "@pipeline_def(batch_size={}, num_threads={}, prefetch_queue_depth={})",
      config.loader.batch_size.value, std::max<std::int64_t>(1, config.loader.num_workers),
      config.loader.executor == Executor::inline_ ? 1
      : config.loader.task == TaskShape::sample   ? config.loader.prefetch_depth.value
                                                  : config.loader.prefetch_factor.value);
}

}  // namespace loaderscope
