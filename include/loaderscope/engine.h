// Engines: many ways to make facts. Each fills the same RunRecord.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

class Device;
struct RunningAccount;
class EventObserver;
struct FittedCosts;

struct Progress {
  std::int64_t steps = 0;  // measured so far, of all ranks
  std::int64_t samples = 0;
  double fraction = 0;  // completed part of the window, 0 to 1
  // Account of the steps, valid only during the call. Null if the observer of the context gets
  // them.
  const RunningAccount* account = nullptr;
};

// Schedule that replaces the knock-out of stages in other loaders. One run alternates between
// batches from the loader and batches that the loader delivered before. All members are numbers of
// steps.
struct ReplaySchedule {
  std::int64_t lead = 0;           // steps of the loader before the first turn
  std::int64_t settle_loader = 0;  // first steps of each turn, which do not count
  std::int64_t settle_replay = 0;
  std::int64_t steps = 0;   // counted steps of each turn
  std::int64_t rounds = 0;  // pairs of a turn of the loader and a turn without it

  std::int64_t loader() const { return settle_loader + steps; }
  std::int64_t replay() const { return settle_replay + steps; }
  std::int64_t round() const { return loader() + replay(); }
  std::int64_t all() const { return lead + rounds * round(); }
};

// State of the window that several ranks share: the window of the first rank.
struct SharedWindow {
  std::int64_t folded = 0;  // steps, warm-up included
  std::int64_t first_measured = std::numeric_limits<std::int64_t>::max();  // the step
  bool ended = false;
};

// The ranks that a run makes itself, of a job whose others are made elsewhere.
struct LocalRanks {
  std::int64_t first_rank = 0;
  std::int64_t ranks = 0;  // ranks of the job; 0: all ranks are local
  // Returns true after all other ranks have ended. Called at least a few times per second, with the
  // steps that each local rank has folded. May be empty.
  std::function<bool(std::int64_t steps)> has_ended;
  // With sync-ranks, all ranks have the window of the first rank of the job. The process with that
  // rank publishes it, the others read it. Both are empty otherwise.
  std::function<void(const SharedWindow&)> publish_window;
  std::function<SharedWindow()> window;
};

// Read by the engine `native` only.
struct NativeContext {
  // Devices instead of those that the configuration names, as DeviceRow::make; may be empty.
  std::function<std::vector<std::unique_ptr<Device>>(const RunConfig&,
                                                     const std::atomic<int>& stop)>
      make_devices;
  // false: no stage is timed, so that the cost of measuring can be measured. The record then has
  // steps and throughput, but no stages.
  bool time_stages = true;
  LocalRanks local_ranks;
};

// Read by the engine `model` only.
struct ModelContext {
  // The times of the stages without a declared cost, fitted to a record; may be null.
  const FittedCosts* costs = nullptr;
  // The record has steps, what they waited for and how many samples they had: all that a prediction
  // is asked for.
  bool only_account = false;
};

// Read by the guest engines only, such as `torch`.
struct GuestContext {
  // Receives the end of what the program prints, instead of standard error; may be null.
  std::string* program_output = nullptr;
  // The steps in which delivered batches take the place of the loader; may be null.
  const ReplaySchedule* replay = nullptr;
};

// The surroundings of an engine, which tests replace. The first four members are for every engine.
// The context owns nothing that it points to. All of that must outlive the run.
struct RunContext {
  const std::atomic<int>* stop_signal = nullptr;     // not 0: end soon, keep what was measured
  std::function<void(const Progress&)> on_progress;  // may be empty; called a few times per second
  Knockouts knockouts;                               // stages that are left out; a guest has none
  EventObserver* observer = nullptr;  // receives every fact; may be null; a guest has none

  NativeContext native;
  ModelContext model;
  GuestContext guest;
};

// Runs the resolved `config` and returns the facts (machine and tool_version are filled by the
// caller). The engine reads the common members of `context` and those of its own kind. Throws
// UsageError for settings that its engine does not have, RunError when the run fails.
RunRecord run_engine(const RunConfig& config, const RunContext& context);

}  // namespace loaderscope
