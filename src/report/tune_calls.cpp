// The settings of a loader in the words of other loaders.
#include <fmt/format.h>

#include "report/tune_report.h"

namespace loaderscope {

std::string data_loader_call(const RunConfig& config) {
  const bool workers = config.executor != Executor::inline_;
  std::string text = fmt::format("DataLoader(ds, batch_size={}, num_workers={}",
                                 config.batch_size.value, config.num_workers.value);
  if (workers) text += fmt::format(", prefetch_factor={}", config.prefetch_factor.value);
  text += config.memory == MemoryMode::pageable ? ", pin_memory=False" : ", pin_memory=True";
  if (workers) text += ", persistent_workers=True";
  return text + (config.drop_last ? ", drop_last=True)" : ")");
}

// DALI has threads that share the samples of a batch, and at least one.
std::string dali_arguments(const RunConfig& config) {
  return fmt::format("@pipeline_def(batch_size={}, num_threads={}, prefetch_queue_depth={})",
                     config.batch_size.value, std::max<std::int64_t>(1, config.num_workers),
                     config.executor == Executor::inline_ ? 1 : config.prefetch_factor.value);
}

}  // namespace loaderscope
