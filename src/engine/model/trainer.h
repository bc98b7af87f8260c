// The training loop of one modelled rank: wait until step k-N has ended, ask, take, copy, launch,
// repeat.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/fifo.h"
#include "engine/model/device.h"
#include "engine/model/device_thread.h"
#include "engine/model/loader.h"
#include "engine/pipeline/queue_occupancy.h"

namespace loaderscope::model {

class ModelTrainer {
 public:
  // `barrier` is called when this rank's next step could begin to compute. `done` is called with
  // the events of every step.
  ModelTrainer(const LoaderPlan& plan, SimulatedMachine& world, Folder& folder, std::int32_t rank,
               std::function<void(Nanos)> barrier, std::function<void(StepEvents&)> done);

  void start();
  void wake();
  void begin_compute(Nanos at) { device_.begin_compute(at); }
  void wake_compute() { device_.wake(); }
  ModelLoader& loader() { return loader_; }
  // No step will come any more: the epochs asked for are over.
  bool exhausted() const { return doing_ == TrainerState::nothing && device_.idle(); }

  // Returns the occupancy of the queue of batches ready to be taken. Each reading begins a new
  // period.
  QueueStats read_queue() {
    return ready_.read("ready", std::max<std::int64_t>(plan_.prefetch_depth, 1), world_.now());
  }

 private:
  enum class TrainerState : std::uint8_t {
    nothing,
    waiting_for_compute,  // the compute of step k-N
    waiting_for_workers,  // workers of the previous epoch that still start
    starting_workers,
    waiting_for_batch,
    receiving,
    waiting_for_copy_queue,
    copying,           // copies on its own thread
    waiting_for_copy,  // the device copies, the trainer waits
    launching,
  };

  void ask();
  bool epoch_is_over() const;  // all of its batches have been taken
  void begin_epoch();
  void start_next_worker();
  void workers_up();
  void arrived(ModelBatch& batch);
  void deliver(ModelBatch& batch);
  void try_take();
  bool receive_next();  // false when nothing has arrived
  void accept(ModelBatch& batch);
  void take(ModelBatch& batch);
  void copy();
  void copy_by_hand();
  void launch();
  void launched(const Interval& launch);
  void step_done(StepEvents& events);
  void wake_up_at(Nanos at);

  const LoaderPlan& plan_;
  SimulatedMachine& world_;
  Folder& folder_;
  std::int32_t rank_;
  std::uint64_t who_;
  std::int64_t in_flight_;
  std::function<void(StepEvents&)> done_;
  ModelLoader loader_;
  ModelDevice device_;
  DeviceThread device_thread_;

  TrainerState doing_ = TrainerState::nothing;
  bool parked_ = false;    // the end of its wait is unknown; the next event of the device wakes it
  bool wake_due_ = false;  // waiting for a batch, and a wake-up is on its way
  std::int64_t step_ = 0;
  std::int64_t epoch_ = -1;
  std::int64_t taken_of_epoch_ = 0;
  std::int32_t starting_ = 0;  // the next worker to start
  Nanos server_free_ = 0;      // forkserver: when it can fork the next one
  Nanos asked_ = 0;
  ActiveWork work_;
  StepEvents events_;  // events of the current step

  Fifo<ModelBatch*> arrivals_;
  ModelBatch* receiving_ = nullptr;
  std::vector<ModelBatch*> early_;  // in order: received, by batch modulo its size
  QueueOccupancy ready_;            // batches that may be taken
};

}  // namespace loaderscope::model
