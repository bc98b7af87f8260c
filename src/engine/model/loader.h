// The loader of one modelled rank: dispatch and workers, up to the queue from which the trainer
// takes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/fifo.h"
#include "engine/model/batch_transport.h"
#include "engine/model/request_queue.h"
#include "engine/model/simulated_machine.h"
#include "engine/pipeline/loader_plan.h"
#include "record/recorder.h"

namespace loaderscope::model {

class ModelLoader {
 public:
  // `arrived` is called for every batch that is on the trainer's side, in the order of arrival.
  // `all_started` is called when the last worker has started.
  ModelLoader(const LoaderPlan& plan, SimulatedMachine& world, Folder& folder, std::int32_t rank,
              std::function<void(ModelBatch&)> arrived, std::function<void()> all_started);

  // Begins an epoch: starts one worker after another (`start_worker`), then fills the window. A
  // worker begins to start at the end of `parent`, which is the part of its start that another
  // thread does.
  void begin_epoch(std::int64_t epoch);
  void start_worker(std::int32_t worker, const Interval& parent);
  void fill_window();
  bool all_workers_up() const { return starting_ == 0; }

  void dispatch_one();               // does nothing if the epoch has no more batches
  void received(ModelBatch& batch);  // the trainer has received it, but may take it later
  void release(ModelBatch& batch);   // taken and no longer needed

  void wake_worker(std::int32_t worker);
  void wake_feeder(std::int32_t worker) { hand_over_.wake_feeder(worker); }
  void wake_pin_thread() { hand_over_.wake_pin_thread(); }

 private:
  enum class WorkerState : std::uint8_t {
    nothing,
    to_be_started,
    starting,
    resting,
    turning,  // changing to its next task
    sampling,
    collating
  };
  struct Worker {
    WorkerState doing = WorkerState::nothing;
    Fifo<ModelBatch*> tasks;       // batch tasks
    std::int64_t outstanding = 0;  // dispatched to it and not yet received by the trainer
    Nanos resting_since = 0;

    // The batch at hand: its first work on it, and the rest before that.
    ModelBatch* batch = nullptr;
    std::int64_t batch_index = -1;
    Nanos begun = 0;
    Nanos rested = 0;

    // The sample at hand: positions [sample, sample_end) of the batch are to be made, `stage` is
    // next.
    std::int64_t sample = 0, sample_end = 0;
    std::size_t stage = 0;
    std::int64_t sample_id = 0;  // index in the data set
    Bytes sample_bytes = 0;
    Nanos clock =
        0;  // time up to which its work is computed; ahead of now when batches are made at once
    bool woken = false;           // since it began the task at hand
    bool working = false;         // works on a stage, at whose end it wakes
    bool awaits_request = false;  // waits for a request of that stage, and polls when it wakes
    StageTime after_request;      // rest of the stage after the request
    ActiveWork work;
    SimulatedMachine::Read read;
    Stage working_on = Stage::opaque;
    Bytes working_bytes = 0;
  };

  std::uint64_t who(Role role, std::int32_t index) const { return pack({role, rank_, index}); }
  Worker& worker_at(std::int32_t index) { return workers_[static_cast<std::size_t>(index)]; }
  Execution execution(std::int32_t worker, const ModelBatch& batch) const {
    return plan_.execution(rank_, worker, batch.events, batch.batch_of_epoch);
  }
  std::int64_t sample_position(const Worker& worker) const {  // sample's position in the epoch
    return worker.batch->batch_of_epoch * plan_.config.loader.batch_size + worker.sample;
  }

  ModelBatch& next_batch();
  std::int32_t choose_worker();
  void give_samples();
  bool has_samples() const { return !sample_tasks_.empty(); }
  void start_up(std::int32_t worker);
  void is_up(std::int32_t worker);
  void next_task(std::int32_t worker);
  void begin_batch(std::int32_t worker, ModelBatch& batch);
  void end_rest(std::int32_t worker);
  void rest(std::int32_t worker);
  void leave_rest(std::int32_t worker);

  void make(std::int32_t worker);  // continues until something takes time
  void begin_sample(std::int32_t worker);
  Execution execution_of_sample(std::int32_t worker);  // execution of the current sample
  bool begin_stage(std::int32_t worker, const StagePlan& stage, const Execution& execution);
  StageTime stage_time(const StagePlan& stage, const Execution& execution) const;
  bool is_from_storage(const StagePlan& stage) const {
    return stage.stage() == Stage::read && plan_.storage.serves_reads;
  }
  bool is_requested(const StagePlan& stage) const {
    return stage.stage() == Stage::read && !requests_.empty();
  }
  std::int64_t samples_known(std::int32_t worker) const;  // beyond the one at hand
  void look_for_request(std::int32_t worker);
  void record(std::int32_t worker, const Interval& interval);
  void record_start(std::int32_t worker, const Interval& interval, Stage stage);
  static Span make_span(const Interval& interval, Stage stage);
  void samples_made(std::int32_t worker);
  void collate(std::int32_t worker);
  void finish(std::int32_t worker);

  const LoaderPlan& plan_;
  SimulatedMachine& world_;
  Folder& folder_;
  std::int32_t rank_;
  BatchTransport hand_over_;
  std::function<void()> all_started_;
  std::vector<Worker> workers_;
  std::vector<RequestQueue> requests_;  // per worker, where reads are requests
  std::int32_t starting_ = 0;           // workers

  std::int64_t epoch_ = 0;
  Nanos epoch_dispatch_ = 0;
  std::int64_t dispatched_of_epoch_ = 0;
  std::int64_t dispatched_ = 0;   // total of the run
  std::int32_t next_worker_ = 0;  // next in the round robin
  std::vector<std::unique_ptr<ModelBatch>> batches_;
  std::vector<ModelBatch*> free_batches_;

  Fifo<ModelBatch*> sample_tasks_;              // batches with samples that have not begun
  std::vector<std::uint64_t> resting_workers_;  // bit per worker, for sample tasks
};

}  // namespace loaderscope::model
