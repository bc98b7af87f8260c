#include "guest/host/loader_facts.h"

#include <algorithm>

namespace loaderscope::guest {

void put_into(RunConfig& config, const LoaderFacts& loader, std::int64_t ranks) {
  const bool has_workers = loader.num_workers > 0;
  config.executor.value = loader.is_opaque ? Executor::opaque
                          : has_workers    ? Executor::processes
                                           : Executor::inline_;
  config.num_workers.value = loader.num_workers;
  if (has_workers && loader.prefetch_factor > 0)
    config.prefetch_factor.value = loader.prefetch_factor;
  config.batch_size.value = std::max<std::int64_t>(1, loader.batch_size);
  config.samples.value = loader.samples * ranks;
  config.memory.value = loader.pin_memory ? MemoryMode::pin_thread : MemoryMode::pageable;
  config.persistent_workers.value = loader.persistent_workers;
  config.in_order.value = loader.in_order;
  config.drop_last.value = loader.drop_last;
  config.shuffle.value = loader.shuffle;
  config.mp_context.value = value_of<StartMethod>(loader.mp_context).value_or(StartMethod::fork);
  config.ranks.value = ranks;
}

}  // namespace loaderscope::guest
