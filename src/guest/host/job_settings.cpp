// The settings that a measured program turned out to have.
#include <algorithm>
#include <cmath>

#include "guest/host/job_record.h"
#include "record/config_facts.h"

namespace loaderscope::guest {

void apply_loader_settings(RunConfig& config, const LoaderFacts& loader, std::int64_t ranks) {
  const bool has_workers = loader.num_workers > 0;
  config.loader.executor.value = loader.is_opaque ? Executor::opaque
                                 : has_workers    ? Executor::processes
                                                  : Executor::inline_;
  config.loader.num_workers.value = loader.num_workers;
  if (has_workers && loader.prefetch_factor > 0)
    config.loader.prefetch_factor.value = loader.prefetch_factor;
  config.loader.batch_size.value = std::max<std::int64_t>(1, loader.batch_size);
  config.data.samples.value = loader.samples * ranks;
  config.loader.memory.value = loader.pin_memory ? MemoryMode::pin_thread : MemoryMode::pageable;
  config.loader.persistent_workers.value = loader.persistent_workers;
  config.loader.in_order.value = loader.in_order;
  config.loader.drop_last.value = loader.drop_last;
  config.loader.shuffle.value = loader.shuffle;
  config.loader.mp_context.value =
      value_of<StartMethod>(loader.mp_context).value_or(StartMethod::fork);
  config.trainer.ranks.value = ranks;
}

void apply_measured_settings(RunConfig& config, const RankRecord& rank, const LoaderFacts& loader) {
  if (rank.samples > 0 && rank.steps() > 0) {
    const double per_batch = static_cast<double>(rank.samples) / static_cast<double>(rank.steps());
    // The last batch of an epoch may be short, so the others have more samples than the mean.
    const double size = loader.batches > 0 ? std::ceil(per_batch) : per_batch;
    if (loader.batch_size == 0) config.loader.batch_size.value = std::llround(std::max(1.0, size));
    if (loader.batches > 0) {
      config.data.samples.value = std::llround(per_batch * static_cast<double>(loader.batches)) *
                                  static_cast<std::int64_t>(config.trainer.ranks.value);
    }
  }
  if (rank.samples > 0) {
    config.data.delivered_bytes.value = rank.delivered_bytes / rank.samples;
    config.data.stored_bytes.value.mean =
        static_cast<double>(rank.read_bytes) / static_cast<double>(rank.samples);
  }
  const StageStats& compute = rank.stages[Stage::compute];
  if (trains_itself(config) && compute.count > 0)
    config.trainer.compute.value.mean = static_cast<double>(compute.wall / compute.count);
}

}  // namespace loaderscope::guest
