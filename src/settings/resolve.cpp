// From the settings that are given to those in force: step after step, or one sentence that
// refuses.
#include <utility>

#include "loaderscope/augment.h"
#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"
#include "settings/resolve_steps.h"
#include "source/registry.h"

namespace loaderscope::settings {
namespace {

enum class Purpose : std::uint8_t { run, predict_declared, predict_measured };

template <class Entry>
void require_available(std::string_view family, std::string_view name,
                       std::span<const Entry> table) {
  try {
    find_row(name, table);
  } catch (const ValueError& error) {
    throw add_place<RunError>(std::string(family) + " = " + std::string(name) + ": ", error);
  }
}

void check_available(const RunConfig& c) {
  require_available("engine", c.engine.value, engine_table());
  if (!is_model_engine(c.engine.value))
    require_available("device", c.trainer.device.value, device_table());
  require_available("source", c.data.source.value, source_table());
}

void check_batch_function(const RunConfig& c) {
  if (!c.program.batch_function.given || c.program.command.given) return;
  refuse(c, "batch-function", "is a function of a training program",
         "give that, too: run --batch-function train.py:get_batch -- python train.py");
}

void check_directory(const RunConfig& c) {
  if (!c.program.directory.given || c.program.command.given) return;
  refuse(c, "directory", "is the folder of a training program", "give that, too: run -- COMMAND");
}

// Refuses values that only a measured program or loader can have.
void check_is_ours(const RunConfig& c) {
  if (device_kind(c.trainer.device.value) == DeviceKind::program)
    refuse(c, "device", "needs a program: run -- COMMAND");
  if (c.loader.executor == Executor::opaque)
    refuse(c, "executor", "describes somebody else's loader", "give threads or processes");
}

// Refuses values that the model accepts and a run cannot have.
void check_can_run(const RunConfig& c) {
  if (is_model_engine(c.engine.value)) return;
  refuse_any(c, about::kStorage | about::kCores, "only the model can change the machine",
             "leave it out, or give --engine model");
  if (c.loader.executor == Executor::processes &&
      memory_row(c.loader.memory).wrap_existing == nullptr) {
    refuse(c, "memory", "the driver makes such memory for one process, workers cannot share it",
           "give --memory pinned-slots, or --executor threads");
  }
  if (!c.has_data()) return;
  try {
    make_augmenter(augment_options(c));
  } catch (const ValueError& error) {
    throw add_place<UsageError>("augment: ", error);
  }
}

void check_ends(const RunConfig& c, Purpose purpose) {
  // In a real run the loader itself takes time, which can be measured with all given costs at 0.
  const bool loader_alone = !is_model_engine(c.engine.value) && !c.declared.cost.value.empty();
  const bool only_declared = purpose != Purpose::predict_measured && !c.has_data();
  if (only_declared && !loader_alone && !has_cost(c)) {
    throw UsageError("nothing takes any time", "give --data, --cost or --compute");
  }
}

RunConfig resolve_for(Purpose purpose, RunConfig c, const MachineLimits& limits,
                      std::vector<std::string>& notes) {
  fill_engine(c);
  check_batch_function(c);
  check_directory(c);
  if (is_guest(c)) return resolve_guest(std::move(c), limits);
  check_is_ours(c);
  fill_source(c);
  fill_device(c, limits, notes);
  fill_batch_size(c);
  check_available(c);
  check_data(c);
  fill_memory(c);
  fill_workers(c, limits);
  if (purpose == Purpose::run) check_device_can_run(c);
  fill_device_work(c, purpose == Purpose::run);
  check_sizes(c);
  check_contradictions(c);
  fill_window(c);
  if (purpose == Purpose::run) check_can_run(c);
  check_ends(c, purpose);
  note_no_effect(c, notes);
  return c;
}

// Returns true if a stage is executed repeatedly in this configuration.
bool recurs(const RunConfig& c, Stage stage) {
  switch (stage) {
    case Stage::startup:
    case Stage::startup_parent:
      return false;
    case Stage::pin:
      return c.loader.memory == MemoryMode::pin_thread;
    case Stage::transport:
    case Stage::transport_recv:
      return c.loader.executor != Executor::inline_;
    case Stage::gpu_decode:
      return c.image.decode.value.on_device();
    case Stage::gpu_augment:
      return c.makes_on_device();
    case Stage::h2d:
    case Stage::compute:
      return device_kind(c.trainer.device.value) != DeviceKind::none;
    default:
      return true;
  }
}

void note_costs(const RunConfig& c, std::vector<std::string>& notes) {
  for (const Cost& cost : c.declared.cost.value) {
    if (cost.stage == Stage::pin && c.loader.memory != MemoryMode::pin_thread) {
      notes.push_back("cost pin has no effect: only memory = pin-thread pins finished batches");
    }
    if (cost.stage == Stage::h2d && device_kind(c.trainer.device.value) == DeviceKind::none) {
      notes.push_back("cost h2d has no effect: device = null copies nothing");
    }
    if (cost.stage == Stage::h2d && c.trainer.link.given) {
      notes.push_back(setting_words(c, "link") + " has no effect: the cost of h2d is declared");
    }
  }
}

void note_settings(const RunConfig& c, std::vector<std::string>& notes) {
  if (c.loader.shuffle_buffer > 0 && !c.loader.shuffle) {
    notes.push_back(setting_words(c, "shuffle-buffer") + " has no effect without shuffle");
  }
  if (c.loader.mp_context.given && c.loader.executor != Executor::processes) {
    notes.push_back(setting_words(c, "mp-context") +
                    " has no effect: it is for executor = processes");
  }
  if (c.trainer.link.given && device_kind(c.trainer.device.value) == DeviceKind::none) {
    notes.push_back(setting_words(c, "link") + " has no effect: device = null copies nothing");
  }
  if (c.loader.bind.value.way != Bind::Way::none && is_model_engine(c.engine.value)) {
    notes.push_back(setting_words(c, "bind") + " has no effect: the model's cores are all alike");
  }
  if (c.trainer.sync_ranks && c.trainer.ranks == 1) {
    notes.push_back("sync-ranks has no effect: there is one rank");
  }
  if (c.loader.drop_last && c.data.samples == 0 && !c.has_data()) {
    notes.push_back("drop-last has no effect: the data set is endless");
  }
  if (!c.loader.in_order && c.loader.num_workers <= 1) {
    notes.push_back("no-in-order has no effect: one worker delivers in order");
  }
}

void note_device(const RunConfig& c, std::vector<std::string>& notes) {
  const bool is_real =
      device_kind(c.trainer.device.value) == DeviceKind::gpu && !is_model_engine(c.engine.value);
  if (is_real && c.trainer.link.given)
    notes.push_back(setting_words(c, "link") + " has no effect: device = cuda has a real link");
  if (is_real && c.has_data() && c.declared_cost(Stage::h2d) != nullptr)
    notes.push_back("cost h2d is added to the real copies of device = cuda");
  if (is_real) return;
  for (std::string_view key : {"launches", "graph"}) {
    if (find_field(key)->given(c))
      notes.push_back(setting_words(c, key) +
                      " has no effect: only device = cuda launches kernels");
  }
  if (c.trainer.compute.value.gemm)
    notes.push_back(setting_words(c, "compute") +
                    ": nothing is multiplied, only its time is taken");
}

}  // namespace

bool has_cost(const RunConfig& c) {
  if (c.trainer.compute.value.mean > 0 || c.declared.storage_latency > 0 ||
      c.declared.storage_bandwidth > 0)
    return true;
  if (c.trainer.link.given && recurs(c, Stage::h2d)) return true;
  for (const Cost& cost : c.declared.cost.value) {
    if (cost.amount.mean > 0 && recurs(c, cost.stage)) return true;
  }
  for (const Injection& injection : c.declared.inject.value) {
    const bool is_on_all_ranks = !injection.rank || c.trainer.ranks == 1;
    if (injection.extra > 0 && is_on_all_ranks && recurs(c, injection.stage)) return true;
  }
  return false;
}

void note_no_effect(const RunConfig& c, std::vector<std::string>& notes) {
  note_costs(c, notes);
  note_settings(c, notes);
  note_device(c, notes);
  note_device_work(c, notes);
}

}  // namespace loaderscope::settings

namespace loaderscope {

RunConfig resolve(RunConfig config, const MachineLimits& limits, std::vector<std::string>& notes) {
  return settings::resolve_for(settings::Purpose::run, std::move(config), limits, notes);
}

RunConfig resolve_to_predict(RunConfig config, const MachineLimits& limits,
                             std::vector<std::string>& notes) {
  return settings::resolve_for(settings::Purpose::predict_declared, std::move(config), limits,
                               notes);
}

RunConfig resolve_measured(RunConfig config, const MachineLimits& limits,
                           std::vector<std::string>& notes) {
  return settings::resolve_for(settings::Purpose::predict_measured, std::move(config), limits,
                               notes);
}

}  // namespace loaderscope
