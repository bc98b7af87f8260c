// A configuration made ready for the engines: the cost of each stage for each sample, batch, worker
// and rank, with the storage, the link and the cores that the ranks share.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/pipeline/batch_layout.h"
#include "engine/pipeline/device_plan.h"
#include "engine/pipeline/fitted_costs.h"
#include "engine/pipeline/resource_models.h"
#include "engine/pipeline/sampler.h"
#include "engine/pipeline/stage_plan.h"
#include "loaderscope/device.h"
#include "loaderscope/engine.h"
#include "loaderscope/events.h"
#include "loaderscope/run_config.h"
#include "record/recorder.h"

namespace loaderscope {

// `config` and `fitted` must outlive the plan.
struct LoaderPlan {
  explicit LoaderPlan(const RunConfig& config, const FittedCosts* fitted = nullptr,
                      const Knockouts& knockouts = {}, const LocalRanks& part = {});

  const RunConfig& config;
  const FittedCosts* fitted;  // null: every cost is declared
  Knockouts knockouts;        // stages that cost nothing, whatever is declared or fitted
  std::int32_t ranks,
      workers;  // workers: at least 1; with an inline executor the trainer is worker 0
  std::int64_t first_rank, ranks_of_job;  // place in a shared job; else 0 and `ranks`
  std::vector<std::size_t> host_of_rank;  // sorted by host
  bool made_by_trainer;
  bool pin_thread;
  bool has_device;
  bool in_order, sample_tasks;
  // Each worker makes its batches from a stream of its own, which ends when it ends: an epoch has
  // no length, and a batch may come back empty.
  bool streamed;
  std::int64_t prefetch_depth;  // the most batches dispatched and not yet taken
  std::vector<std::int64_t> in_flight_of_rank;
  std::int64_t in_flight;  // the most of a rank

  std::vector<StagePlan>
      sample_stages;  // read, read.decompress, decode, augment: those that cost anything
  // Measured work of the device on a batch that the trainer has taken: gpu-decode, gpu-augment.
  std::vector<Stage> stages_after_take;
  StagePlan collate, send, receive, pin, launch, copy, compute, startup, startup_parent;

  StorageModel storage;
  LinkModel link;
  CoreModel cores;
  DevicePlan on_device;
  bool makes_at_once;  // a worker cannot be slowed once it has begun: a batch is computed in one go
  bool server_forks;   // forkserver: workers are started one after another without keeping the
                       // trainer

  std::size_t host_index(std::int32_t rank) const {
    return host_of_rank[static_cast<std::size_t>(rank)];
  }
  // The delay of the start of a rank's workers, counted from the first rank that starts.
  Nanos start_delay(std::int32_t rank) const;
  // The work of hosts without ranks on a sample's stage counts as `remote_cpu`.
  StageTime sample_time(const StagePlan& stage, const Execution& execution) const;

  // The number, among all of the job, of a rank's `count`th execution of its kind.
  std::int64_t draw_number(std::int64_t count, std::int32_t rank) const {
    return count * ranks_of_job + first_rank + rank;
  }
  Bytes delivered_bytes(std::int64_t samples) const { return samples * delivered_sample_bytes; }
  StageTime receive_time(const Execution& execution) const {
    const StageTime time = receive.time(execution);
    return receive.is_fitted() ? fitted->received(time, knockouts) : time;
  }
  StageTime copy_work(const Execution& execution) const;  // work of the trainer's thread
  Nanos copy_time(const Execution& execution) const;
  Nanos compute_time(const Execution& execution) const;
  Nanos turn() const { return fitted != nullptr ? fitted->turn : 0; }  // ns before a batch
  // Time for which the trainer keeps launching after a step begins to compute.
  Nanos launches_on(const Execution& execution) const;

  // Batches that can be alive at the same time: the prefetch depth, the steps in flight, and the
  // one that the trainer has.
  std::int64_t slots() const { return prefetch_depth + in_flight + 1; }
  bool device_decodes(const Execution& sample) const;
  // The device keeps this sample since before the first batch.
  bool device_holds(const Execution& sample) const;
  // A worker leaves this stage of a sample to the device. Measured samples have the work of the
  // workers only, if the device worked in that run.
  bool leaves_to_device(Stage stage, const Execution& sample) const {
    if (device_holds(sample)) return true;
    if (fitted != nullptr && fitted->made_for_device) return false;
    if (stage == Stage::augment) return on_device.augments();
    return stage == Stage::decode && on_device.decodes_sample(sample);
  }
  // Tasks of the device for a batch.
  BatchTasks device_tasks(Execution batch, const DeviceShare& work) const;
  // A thread of the loader receives the batches, and the trainer does not.
  bool has_receiver() const { return pin_thread || on_device.makes(); }
  // Host memory of one rank's batches; a pin thread needs page-locked slots besides the others.
  Bytes host_bytes() const { return (pin_thread ? 2 : 1) * slots() * layout.slot_bytes; }

  Bytes delivered_sample_bytes;
  MakePlan make_plan;  // set with a mixed layout
  BatchLayout layout;  // tensors, unless an engine sets another before it makes slots

  // Batch tasks are delivered in bursts of this many steps.
  std::int64_t burst() const { return sample_tasks || made_by_trainer ? 1 : workers; }
  FoldOptions fold_options(EventObserver* observer) const;
  // Identifies the work on a whole batch. `worker` is -1 if no worker does it.
  Execution execution(std::int32_t rank, std::int32_t worker, const StepEvents& events,
                      std::int64_t batch_of_epoch) const;
  // Identifies the work of the trainer and the device on a step.
  Execution execution_of_step(std::int32_t rank, const StepEvents& events) const;
  Execution worker_start(std::int32_t rank, std::int32_t worker, std::int64_t epoch) const;

  // The data set as one rank sees it.
  std::int64_t samples_per_epoch;  // samples of one rank; 0 = endless
  std::int64_t batches_per_epoch;  // batches of one rank; 0 = endless
  std::int64_t samples_in_batch(std::int64_t batch_of_epoch) const;
  std::int64_t sample_at(std::int32_t rank, std::int64_t epoch, std::int64_t position) const {
    return sampler.at(first_rank + rank, epoch, position);
  }
  Sampler sampler;
};

}  // namespace loaderscope
