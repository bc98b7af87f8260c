// The device of one modelled rank. Its timeline says when copies and computes begin and end. With a
// barrier, the begin of a compute is known once all ranks have submitted that step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/fifo.h"
#include "device/device_timeline.h"
#include "device/production_lanes.h"
#include "engine/model/simulated_machine.h"
#include "engine/pipeline/loader_plan.h"
#include "loaderscope/events.h"

namespace loaderscope::model {

class ModelDevice {
 public:
  // `ready` is called when a step could begin to compute. The answer is `begin_compute`, at once or
  // later. `done` is called with the events of every step whose compute is placed, in order, and
  // may add to them.
  ModelDevice(const LoaderPlan& plan, SimulatedMachine& world, std::int32_t rank,
              std::function<void(Nanos)> ready, std::function<void(StepEvents&)> done);

  // A step's way, in this order. `copied`: the trainer's own thread has copied it.
  void submit_copy(const StepEvents& events, Nanos now, Nanos duration);
  void copied(const StepEvents& events, const Interval& copy);
  void submit_compute(Nanos now, const Interval& launch, bool last_of_epoch);
  // The tasks of a batch. Batches come in the order of the steps.
  void make(std::span<const LaneTask> tasks);
  void begin_compute(Nanos at);  // places the oldest step that is ready
  void wake();  // called when cores are free for a compute, or work of the lanes ends

  // kNever while unknown.
  Nanos compute_end(std::int64_t step) const;              // only for the last in-flight + 1
  Nanos copy_end() const { return timeline_.copy_end(); }  // end of the copy submitted last
  // Returns the time from which a copy on the trainer's thread can begin.
  Nanos copy_queue_free() const { return timeline_.copy_queue_free(); }
  bool idle() const { return steps_.empty() && !on_cores_ && !computing_; }

 private:
  struct Step {
    StepEvents events;
    bool reported_ready = false;
    bool last_of_epoch = false;
  };
  Step& add_step(const StepEvents& events);
  void advance();
  void computed(StepEvents& events);
  std::optional<Nanos> find_ready();
  // Adds the work of a trainer that decodes or augments on the device before the compute. Returns
  // its end.
  Nanos work_after_take(Nanos at, StepEvents& events) const;
  void follow_lanes();
  void wake_for_lanes();

  // A compute that shares the cores with the loader. Its end is unknown until it comes.
  struct OnCores {
    StepEvents events;
    Nanos amount = 0;
    bool begun = false;
  };

  const LoaderPlan& plan_;
  SimulatedMachine& world_;
  std::int32_t rank_;
  std::function<void(Nanos)> ready_;
  std::function<void(StepEvents&)> done_;
  DeviceTimeline timeline_;
  Fifo<Step> steps_{2};  // submitted, compute not placed
  std::optional<OnCores> on_cores_;
  ProductionLanes lanes_;
  std::optional<StepEvents> computing_;  // step whose compute the lanes may slow down
  Nanos compute_begin_ = kNever;         // begin of its compute, in the future
  Nanos compute_duration_ = 0;
  Nanos wake_due_ = kNever;
  std::vector<Nanos> ends_;  // ends of computes, by step modulo the size
  std::int64_t placed_ = 0;  // steps whose compute is placed
};

}  // namespace loaderscope::model
