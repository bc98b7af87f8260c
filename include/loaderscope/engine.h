// Engines: many ways to make facts. Each fills the same RunRecord.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/proof.h"
#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

class Device;
class FactObserver;
struct FittedCosts;

struct Progress {
  std::int64_t steps = 0;  // measured so far, of all ranks
  std::int64_t samples = 0;
  double fraction = 0;  // of the window, 0 to 1
};

// What an engine may use of the world around it. Tests hand in others.
struct EngineContext {
  const std::atomic<int>* stop_signal = nullptr;     // not 0: end soon, keep what was measured
  std::function<void(const Progress&)> on_progress;  // may be empty; called a few times a second
  FactObserver* observer = nullptr;                  // of every fact, if not null
  // Devices instead of those that the configuration names, as DeviceRow::make; may be empty.
  std::function<std::vector<std::unique_ptr<Device>>(const RunConfig&,
                                                     const std::atomic<int>& stop)>
      make_devices;
  // false: no stage is timed, so that what the measuring costs can be measured. The
  // record then has steps and throughput, but no stages. `native` only.
  bool time_stages = true;
  // false: what timing the stages costs a measured program is not measured behind the window.
  // `torch` only.
  bool measure_hooks = true;
  // The end of what a measured program prints goes there, instead of all of it to standard error.
  // `torch` only.
  std::string* program_output = nullptr;
  // What the stages without a declared cost take, fitted to a record. `model` only.
  const FittedCosts* costs = nullptr;
  Knockouts knockouts;  // stages that are left out
  // When batches that were delivered take the place of the loader; may be null. `torch` only.
  const ReplayTurns* replay = nullptr;
};

// Of an engine that is somebody else's loader, in a Python of its own.
struct GuestTraits {
  bool is_data_loader = true;  // of PyTorch, with its arguments
  bool can_shuffle = true;
};

struct EngineRow {
  Row row;
  // Runs the resolved `config` and returns the facts (machine and tool_version are filled by the
  // caller). Throws UsageError for settings that this engine does not have, RunError when the run
  // fails.
  RunRecord (*run)(const RunConfig& config, const EngineContext& context);
  std::optional<GuestTraits> guest = std::nullopt;
};

std::span<const EngineRow> engine_table();  // src/engine/registry.cpp

// The row of a resolved configuration's engine, whether or not it is available with the default
// Python.
const EngineRow& engine_row(std::string_view name);

std::optional<GuestTraits> guest_traits(std::string_view engine);  // nothing where it is none
bool is_guest_engine(std::string_view name);

// A pipeline of somebody else's loader that we bring along: JPEG files, random-resized-crop, flip,
// normalise, f32 NCHW. `--loader` names it.
struct PipelineRow {
  Row row;
  std::string_view engine;
  bool is_default = false;  // it runs where the engine alone is given
};

std::span<const PipelineRow> pipeline_table();  // src/engine/registry.cpp

const PipelineRow* find_pipeline(std::string_view name);  // null: there is none of this name

}  // namespace loaderscope
