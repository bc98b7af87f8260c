// Defaults that depend on other values and on the machine.
#include <algorithm>
#include <cmath>

#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"
#include "settings/resolve_steps.h"

namespace loaderscope::settings {
namespace {

// Workers on a list of CPUs have no others.
double usable_cores(const RunConfig& c, const MachineLimits& limits) {
  const Bind& bind = c.loader.bind.value;
  if (bind.way != Bind::Way::list || is_model_engine(c.engine.value)) return limits.cores;
  return std::min(limits.cores, static_cast<double>(bind.cpus.size()));
}

void check_inline(const RunConfig& c) {
  if (c.loader.executor != Executor::inline_) return;
  for (const Field& field : fields()) {
    if (field.is_about(about::kNeedsWorkers) && field.given(c) && field.text(c) != "false")
      refuse(c, field.name, "has no meaning without workers (num-workers = 0)");
  }
  if (c.loader.task == TaskShape::sample) refuse(c, "task", "needs workers, and num-workers = 0");
}

// A worker of a stream makes its batches of what comes, for as long as it comes.
void check_stream(const RunConfig& c) {
  if (!is_streamed(c)) return;
  const auto refuse_in_stream = [&c](std::string_view key, const std::string& why,
                                     const std::string& hint) {
    refuse(c, key, "the data is a stream: " + why, hint);
  };
  if (c.loader.task == TaskShape::sample && c.loader.num_workers > 0)
    refuse_in_stream("task", "its workers make whole batches of their own shards",
                     "give task = batch");
  if (c.data.samples > 0)
    refuse_in_stream("samples", "how many it has is known when it ends",
                     "give --steps or --epochs");
  if (c.loader.shuffle)
    refuse_in_stream("shuffle", "its order is its own", "give tar:PATH?stream=1&shuffle=1000");
  if (c.trainer.sync_ranks && c.trainer.ranks > 1 && c.measure.epochs > 0) {
    refuse_in_stream(
        "sync-ranks",
        "its ranks may have unequal numbers of batches, and one that ended would keep the others",
        "leave out --epochs");
  }
  if (c.answer.prove != Prove::off) {
    refuse_in_stream("prove",
                     "no samples are kept to be replayed, so that no stage can be left out",
                     "measure the same shards by their index, without stream=1");
  }
}

void check_window(const RunConfig& c) {
  if (!c.loader.prefetch_depth.given) return;
  if (c.loader.task == TaskShape::batch)
    refuse(c, "prefetch-depth", "is for task = sample", "give prefetch-factor with task = batch");
  if (c.loader.prefetch_factor.given)
    refuse(c, "prefetch-factor", "contradicts " + setting_words(c, "prefetch-depth"),
           "give one of them");
}

void check_measurement(const RunConfig& c) {
  if (c.measure.steps.given && c.measure.steps > 0 && c.measure.duration.given) {
    refuse(c, "steps", "contradicts " + setting_words(c, "duration"), "give one of them");
  }
  const bool endless = c.data.samples == 0 && !c.has_data();
  if (c.measure.epochs > 0 && endless) {
    refuse(c, "epochs", "the data set is endless", "give samples, the length of an epoch");
  }
  if (c.loader.drop_last && c.data.samples > 0 &&
      (c.data.samples - 1) / c.trainer.ranks + 1 < c.loader.batch_size) {
    refuse(c, "samples",
           "with drop-last not one batch of " + std::to_string(c.loader.batch_size) +
               " samples is left for each rank");
  }
}

void check_storage(const RunConfig& c) {
  if (c.declared_cost(Stage::read) == nullptr) return;
  refuse_any(c, about::kStorage, "contradicts the declared cost of read", "give one of them");
}

void check_injections(const RunConfig& c) {
  const std::int64_t workers =
      std::max<std::int64_t>(1, c.loader.num_workers);  // the trainer is worker 0
  for (const Injection& injection : c.declared.inject.value) {
    const std::string place = "inject = " + shown_text(injection.text) + ": ";
    if (injection.rank && *injection.rank >= c.trainer.ranks) {
      throw UsageError(place + "this rank does not exist",
                       "give a rank below " + std::to_string(c.trainer.ranks));
    }
    if (injection.stage == Stage::opaque) {
      throw UsageError(place + "nothing is opaque in a loader of ours", "give another stage");
    }
    if (injection.worker && *injection.worker >= workers) {
      throw UsageError(place + "this worker does not exist",
                       "give a worker below " + std::to_string(workers));
    }
  }
}

void check_device(const RunConfig& c) {
  if (device_kind(c.trainer.device.value) == DeviceKind::none && c.trainer.compute.given) {
    refuse(c, "compute", "device = null computes nothing", "leave one of them out");
  }
  if (!c.trainer.compute.value.gemm) return;
  const std::string reason =
      "contradicts " + setting_words(c, "compute") + ", which launches as many kernels as it needs";
  if (c.trainer.launches > 1) refuse(c, "launches", reason);
  if (c.trainer.graph) refuse(c, "graph", reason);
}

void check_bind(const RunConfig& c) {
  if (c.loader.bind.value.way != Bind::Way::near_gpu || is_model_engine(c.engine.value) ||
      device_kind(c.trainer.device.value) == DeviceKind::gpu)
    return;
  refuse(c, "bind", "there is no GPU with device = " + c.trainer.device.value,
         "give spread, compact or a list of CPUs");
}

}  // namespace

void fill_engine(RunConfig& c) {
  if (!c.program.command.given && !c.program.loader.given) return;
  const PipelineRow* pipeline = find_pipeline(c.program.loader.value);
  const std::string_view engine = pipeline != nullptr ? pipeline->engine : "torch";
  if (!c.engine.given) c.engine.value = engine;
  const bool is_user_loader = c.program.loader.given && pipeline == nullptr;
  if (c.engine.value != engine && !(is_user_loader && is_guest(c)))
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

void check_contradictions(const RunConfig& c) {
  check_inline(c);
  check_stream(c);
  check_window(c);
  check_measurement(c);
  check_storage(c);
  check_injections(c);
  check_device(c);
  check_bind(c);
}

}  // namespace loaderscope::settings
