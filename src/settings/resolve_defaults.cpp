// Defaults that depend on other values and on the machine.
#include <algorithm>
#include <cmath>

#include "loaderscope/run_config.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"
#include "settings/refuse.h"
#include "settings/resolve_guest.h"
#include "settings/resolve_steps.h"

namespace loaderscope::settings {
namespace {

// Workers on a list of CPUs have no others.
double usable_cores(const RunConfig& c, const MachineLimits& limits) {
  const Bind& bind = c.loader.bind.value;
  if (bind.way != Bind::Way::list || is_model_engine(c.engine.value)) return limits.cores;
  return std::min(limits.cores, static_cast<double>(bind.cpus.size()));
}

}  // namespace

void fill_engine(RunConfig& c) {
  if (!c.program.command.given && !c.program.loader.given) return;
  const PipelineRow* pipeline = find_pipeline(c.program.loader.value);
  const std::string_view engine = pipeline != nullptr ? pipeline->engine : "torch";
  if (!c.engine.given) c.engine.value = engine;
  const bool of_the_users = c.program.loader.given && pipeline == nullptr;
  if (c.engine.value != engine && !(of_the_users && is_guest(c)))
    refuse(c, "engine", "contradicts the program to be measured", "give one of them");
}

void fill_device(RunConfig& c, const MachineLimits& limits, std::vector<std::string>& notes) {
  if (c.trainer.device.given || c.trainer.link.given || is_model_engine(c.engine.value)) return;
  c.trainer.device.value = limits.has_gpu ? "cuda" : "sim";
  if (limits.has_gpu || limits.why_no_gpu.empty()) return;
  notes.push_back("no GPU: " + limits.why_no_gpu.substr(0, limits.why_no_gpu.find(';')) +
                  "; the device is simulated");
}

void fill_batch_size(RunConfig& c) {
  const std::int64_t per_batch = c.trainer.compute.value.per_batch;
  if (per_batch > 0 && !c.loader.batch_size.given) c.loader.batch_size.value = per_batch;
}

void fill_memory(RunConfig& c) {
  if (!c.loader.pin_memory.given) return;
  if (c.loader.pin_memory) {
    if (c.loader.memory.given && c.loader.memory != MemoryMode::pin_thread) {
      refuse(c, "memory", "contradicts pin-memory, which is memory = pin-thread",
             "give one of them");
    }
    c.loader.memory.value = MemoryMode::pin_thread;
    return;
  }
  if (c.loader.memory.given && c.loader.memory == MemoryMode::pin_thread) {
    refuse(c, "memory", "contradicts no-pin-memory", "give one of them");
  }
  if (!c.loader.memory.given)
    c.loader.memory.value = MemoryMode::pageable;  // same as pin_memory=False in PyTorch
}

void fill_workers(RunConfig& c, const MachineLimits& limits) {
  if (c.declared.cores.given && !(c.declared.cores >= 0.001))
    refuse(c, "cores", "expected at least 0.001");
  if (c.declared.cores > 65536) refuse(c, "cores", "expected at most 65536");
  if (!c.declared.cores.given) c.declared.cores.value = usable_cores(c, limits);
  const bool wants_inline = c.loader.executor.given && c.loader.executor == Executor::inline_;
  if (!c.loader.num_workers.given) {
    const auto cores = static_cast<std::int64_t>(std::floor(c.declared.cores));
    c.loader.num_workers.value = wants_inline ? 0 : std::max<std::int64_t>(1, cores);
  }
  if (wants_inline && c.loader.num_workers > 0) {
    refuse(c, "num-workers", "executor = inline has no workers", "give another executor");
  }
  if (c.loader.num_workers > 0) return;
  if (c.loader.executor.given && !wants_inline) {
    refuse(c, "executor", "needs at least one worker, and num-workers = 0");
  }
  c.loader.executor.value = Executor::inline_;
}

void fill_window(RunConfig& c) {
  if (c.loader.task == TaskShape::sample && !c.loader.prefetch_depth.given)
    c.loader.prefetch_depth.value = c.loader.prefetch_factor * c.loader.num_workers;
}

}  // namespace loaderscope::settings
