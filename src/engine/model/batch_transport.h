// From the workers of one modelled rank to its trainer: the feeder of each, and the pin thread. A
// device thread without one receives in the same way, and pins nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/fifo.h"
#include "engine/model/simulated_machine.h"
#include "engine/pipeline/loader_plan.h"
#include "loaderscope/events.h"

namespace loaderscope::model {

// A batch of a modelled loader. Reused after the trainer has taken the batch and released it.
struct ModelBatch {
  StepEvents events;
  std::int64_t batch_of_epoch = 0;
  std::int64_t next_sample = 0;   // sample tasks: the next one to begin
  std::int64_t samples_left = 0;  // sample tasks: not finished
  DeviceShare on_device;          // work of the device on its samples
};

class BatchTransport {
 public:
  // `arrived` is called for every batch that is on the trainer's side, in the order of arrival.
  BatchTransport(const LoaderPlan& plan, SimulatedMachine& world, std::int32_t rank,
                 std::function<void(ModelBatch&)> arrived);

  void finished(std::int32_t worker, ModelBatch& batch);

  void wake_feeder(std::int32_t worker);
  void wake_pin_thread();

 private:
  // Sends the batches of one worker, one after another.
  struct Feeder {
    Fifo<ModelBatch*> to_send;
    bool sending = false;
    ActiveWork work;
  };

  std::uint64_t who(Role role, std::int32_t index) const { return pack({role, rank_, index}); }
  Execution execution(std::int32_t worker, const ModelBatch& batch) const {
    return plan_.execution(rank_, worker, batch.events, batch.batch_of_epoch);
  }
  void send_next(std::int32_t worker);
  void sent(ModelBatch& batch);
  void pin_next();
  void begin_pinning();
  void received();

  const LoaderPlan& plan_;
  SimulatedMachine& world_;
  std::int32_t rank_;
  std::function<void(ModelBatch&)> arrived_;
  std::vector<Feeder> feeders_;  // one per worker

  Fifo<ModelBatch*> to_pin_;
  ModelBatch* pinning_ = nullptr;
  bool pin_receives_ = false;  // `pinning_` is being received
  ActiveWork pin_work_;
};

}  // namespace loaderscope::model
