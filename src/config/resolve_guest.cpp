// The settings of a run of somebody else's loader: what is not given stays as the program has it.
#include "config/resolve_guest.h"

#include <array>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

// What is ours, and not somebody else's loader's.
constexpr std::array kOfOurLoader = {"executor",
                                     "source",
                                     "data",
                                     "index",
                                     "access",
                                     "cache",
                                     "on-error",
                                     "stored-bytes",
                                     "delivered-bytes",
                                     "size",
                                     "transfer",
                                     "layout",
                                     "augment",
                                     "antialias",
                                     "dct-scale",
                                     "task",
                                     "window",
                                     "cost",
                                     "cores",
                                     "core-scaling",
                                     "samples",
                                     "fast-upsampling",
                                     "queue-depth",
                                     "shuffle-buffer",
                                     "storage-latency",
                                     "storage-bandwidth",
                                     "storage-concurrency"};

// What describes a trainer of ours: a program trains itself.
constexpr std::array kOfOurTrainer = {"device", "copy", "link", "compute", "in-flight", "epochs"};

// What no run of somebody else's loader has.
constexpr std::array kOfNoGuest = {"launches", "graph", "ranks", "sync-ranks"};

template <class Names>
void refuse(const RunConfig& config, const Names& names, const std::string& reason) {
  for (const std::string_view name : names) {
    const Field& field = *find_field(name);
    if (!field.given(config)) continue;
    throw UsageError(std::string(name) + " = " + shown_text(field.text(config)) + ": " + reason);
  }
}

void check_settings(const RunConfig& c) {
  refuse(c, kOfOurLoader, "is for our own loader, and the engine torch measures somebody else's");
  refuse(c, kOfNoGuest, "is for --engine native; somebody else's loader has its own");
  if (c.command.given) {
    refuse(c, kOfOurTrainer,
           "is for a trainer of ours, and run -- COMMAND measures the program's own");
  }
  if (c.train_step.given) {
    refuse(c, std::array{"device", "copy", "link", "compute", "in-flight"},
           "is for a trainer of ours; leave it out, or leave out --train-step");
  }
  if (c.memory.given && c.memory != MemoryMode::pin_thread && c.memory != MemoryMode::pageable) {
    refuse(c, std::array{"memory"},
           "a DataLoader has pin-thread (pin_memory=True) and pageable memory only");
  }
  if (c.steps.given && c.steps > 0 && c.duration.given) {
    refuse(c, std::array{"steps"}, "contradicts duration; give one of them");
  }
}

void fill_device(RunConfig& c) {
  if (!c.device.given) c.device.value = "sim";
  if (c.device.value != "sim" && c.device.value != "null") {
    throw UsageError("device = " + c.device.value +
                     ": a loader of --loader is tried with sim and null; measure the program "
                     "itself with run -- COMMAND");
  }
  if (c.device.value == "null" && c.compute.given)
    refuse(c, std::array{"compute"}, "device = null computes nothing; leave one of them out");
}

}  // namespace

bool is_guest(const RunConfig& c) { return c.engine.value == "torch"; }

RunConfig resolve_guest(RunConfig c, const MachineLimits& limits) {
  if (c.command.given == c.loader.given) {
    throw UsageError(c.command.given
                         ? "loader = " + shown_text(c.loader.value) +
                               ": contradicts the program behind --; give one of them"
                         : "engine = torch: nothing is given to be measured; give 'run -- python "
                           "train.py' or --loader FILE.py:FUNCTION");
  }
  check_settings(c);
  if (c.pin_memory.given)
    c.memory.value = c.pin_memory ? MemoryMode::pin_thread : MemoryMode::pageable;
  c.cores.value = limits.cores;
  if (c.memory != MemoryMode::pin_thread) c.memory.value = MemoryMode::pageable;
  const bool has_none = c.num_workers.given && c.num_workers == 0;
  c.executor.value = has_none ? Executor::inline_ : Executor::processes;
  if (c.loader.given && !c.train_step.given) {
    fill_device(c);
  } else {
    c.device.value = "script";
  }
  // All of a job; a loader alone has no end.
  if (c.command.given && c.steps == 0 && !c.duration.given) c.duration.value = 0;
  return c;
}

}  // namespace loaderscope
