// The thread of one modelled rank that submits work of the loader to the device. It takes batches
// in the order in which the trainer takes them, and waits for a free slot of the device for each.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/fifo.h"
#include "engine/model/batch_transport.h"
#include "engine/model/device.h"

namespace loaderscope::model {

class DeviceThread {
 public:
  // `submitted` is called for each batch that the trainer may take.
  DeviceThread(const LoaderPlan& plan, SimulatedMachine& world, ModelDevice& device,
               std::int32_t rank, std::function<void(ModelBatch&)> submitted);

  void hand(ModelBatch& batch);
  void free_slot();  // the compute of a batch has ended

 private:
  ModelBatch* next() const;
  void submit_all();
  void submit(ModelBatch& batch);

  const LoaderPlan& plan_;
  SimulatedMachine& world_;
  ModelDevice& device_;
  std::int32_t rank_;
  std::function<void(ModelBatch&)> submitted_;

  // Handed batches, if they come in order: by batch modulo its size. Empty if the device makes
  // none.
  std::vector<ModelBatch*> early_;
  Fifo<ModelBatch*> handed_;  // not in order
  std::int64_t next_batch_ = 0;
  std::int64_t free_slots_;
  Nanos free_since_ = 0;  // the batch before was submitted
};

}  // namespace loaderscope::model
