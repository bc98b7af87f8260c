// Settings of a run of another program's loader. Settings that are not given stay as in the
// program.
#include "loaderscope/run_config.h"
#include "record/family_traits.h"
#include "settings/resolve_steps.h"

#include <algorithm>

#include "loaderscope/errors.h"
#include "record/config_facts.h"
#include "settings/engine_table.h"

namespace loaderscope {
namespace {

using settings::refuse;
using settings::refuse_any;
using settings::refuse_given;

void check_settings(const RunConfig& c) {
  refuse_any(
      c, about::kNativeLoader,
      "is for our own loader, and the engine " + c.engine.value + " measures somebody else's");
  refuse_any(c, about::kOwnRanks, "is for --engine native; somebody else's loader has its own");
  if (c.program.command.given) {
    const std::string reason =
        "is for a trainer of ours, and run -- COMMAND measures the program's own";
    refuse_any(c, about::kNativeTrainer, reason);
    refuse_given(c, "epochs", reason);
  }
  if (c.program.train_step.given) {
    refuse_any(c, about::kNativeTrainer, "is for a trainer of ours",
               "leave it out, or leave out --train-step");
  }
  if (c.loader.memory.given && c.loader.memory != MemoryMode::pin_thread &&
      c.loader.memory != MemoryMode::pageable) {
    refuse_given(c, "memory",
                 "a DataLoader has pin-thread (pin_memory=True) and pageable memory only");
  }
  if (c.measure.steps.given && c.measure.steps > 0 && c.measure.duration.given) {
    refuse_given(c, "steps", "contradicts duration", "give one of them");
  }
}

// Fills in the number of workers of a native loader.
void fill_pipeline(RunConfig& c, const PipelineRow& pipeline, const MachineLimits& limits) {
  const std::string name(pipeline.row.name);
  if (c.data.paths.value.size() != 1)
    throw UsageError("loader = " + name + ": needs data", "give one --data FOLDER");
  if (c.program.train_step.given)
    refuse_given(c, "train-step", "is for a loader of yours", "give it by --loader, too");
  if (!c.loader.num_workers.given)
    c.loader.num_workers.value = std::max<std::int64_t>(1, static_cast<std::int64_t>(limits.cores));
  if (!c.loader.batch_size.given && c.trainer.compute.value.per_batch > 0)
    c.loader.batch_size.value = c.trainer.compute.value.per_batch;
  if (c.loader.num_workers < 0) refuse_given(c, "num-workers", "expected at least 0");
  for (const char* const key : {"batch-size", "size", "prefetch-factor"}) {
    const std::string value = find_field(key)->text(c);
    if (value == "0" || value.starts_with('-')) refuse(c, key, "expected at least 1");
  }
  const std::string engine(pipeline.engine);
  const GuestTraits traits = guest_traits(engine).value();
  if (!traits.can_shuffle)
    refuse_given(c, "shuffle", engine + " reads its shards in their order", "leave it out");
  if (traits.is_data_loader) return;
  refuse_any(c, about::kDataLoaderArgument,
             "is an argument of PyTorch's DataLoader; " + engine + " has none such");
  if (c.loader.num_workers == 0)
    refuse_given(c, "num-workers", engine + " has at least one thread", "give 1 or more");
}

// Fills in the pipeline that runs if only the engine is given.
void fill_loader(RunConfig& c) {
  if (c.program.command.given || c.program.loader.given) return;
  for (const PipelineRow& row : pipeline_table()) {
    if (row.is_default && row.engine == c.engine.value)
      c.program.loader.set(std::string(row.row.name));
  }
}

// A Python that was named reports missing parts itself when it runs.
void check_pretence_available(const RunConfig& c) {
  if (c.program.python.given) return;
  try {
    find_row(c.engine.value, engine_table());
  } catch (const ValueError& error) {
    throw add_place<RunError>("engine = " + c.engine.value + ": ", error);
  }
}

void fill_device(RunConfig& c) {
  if (!c.trainer.device.given) c.trainer.device.value = "sim";
  if (device_kind(c.trainer.device.value) == DeviceKind::program) {
    throw UsageError("device = script: a loader of --loader is tried with cuda, sim and null",
                     "measure the program itself with run -- COMMAND");
  }
  if (device_kind(c.trainer.device.value) == DeviceKind::none && c.trainer.compute.given)
    refuse_given(c, "compute", "device = null computes nothing", "leave one of them out");
}

}  // namespace

bool is_guest(const RunConfig& c) { return is_guest_engine(c.engine.value); }

RunConfig resolve_guest(RunConfig c, const MachineLimits& limits) {
  fill_loader(c);
  if (c.program.command.given == c.program.loader.given) {
    if (!c.program.command.given)
      throw UsageError("engine = torch: nothing is given to be measured",
                       "give 'run -- python train.py' or --loader FILE.py:FUNCTION");
    throw UsageError(
        "loader = " + shown_text(c.program.loader.value) + ": contradicts the program after --",
        "give one of them");
  }
  check_settings(c);
  if (const PipelineRow* pipeline = find_pipeline(c.program.loader.value)) {
    fill_pipeline(c, *pipeline, limits);
  } else {
    refuse_any(c, about::kPipelineOnly,
               "is for a pipeline that we bring, such as --loader torch:pillow; yours has its own");
  }
  check_pretence_available(c);
  if (c.loader.pin_memory.given)
    c.loader.memory.value = c.loader.pin_memory ? MemoryMode::pin_thread : MemoryMode::pageable;
  c.declared.cores.value = limits.cores;
  if (c.loader.memory != MemoryMode::pin_thread) c.loader.memory.value = MemoryMode::pageable;
  const bool has_none = c.loader.num_workers.given && c.loader.num_workers == 0;
  c.loader.executor.value = has_none ? Executor::inline_ : Executor::processes;
  if (trains_itself(c)) {
    c.trainer.device.value = "script";
  } else {
    fill_device(c);
  }
  // All of a job; a loader alone has no end.
  if (c.program.command.given && c.measure.steps == 0 && !c.measure.duration.given)
    c.measure.duration.value = 0;
  return c;
}

}  // namespace loaderscope
