// From the workers of one modelled rank to its trainer: the feeder of each, and the pin thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/fifo.h"
#include "engine/model/batch.h"
#include "engine/model/world.h"
#include "engine/pipeline/plan.h"

namespace loaderscope::model {

class HandOver {
 public:
  // `arrived` is told of every batch that the trainer may take, in the order of arrival.
  HandOver(const Plan& plan, World& world, Folder& folder, std::int32_t rank,
           std::function<void(Batch&)> arrived);

  void finished(std::int32_t worker, Batch& batch);

  void wake_feeder(std::int32_t worker);
  void wake_pin_thread();

 private:
  // Sends the batches of one worker, one after another.
  struct Feeder {
    Fifo<Batch*> to_send;
    bool sending = false;
    Ongoing work;
  };

  std::uint64_t who(Role role, std::int32_t index) const { return pack({role, rank_, index}); }
  Execution execution(std::int32_t worker, const Batch& batch) const {
    return plan_.execution(rank_, worker, batch.events, batch.batch_of_epoch);
  }
  void send_next(std::int32_t worker);
  void sent(Batch& batch);
  void pin_next();
  void begin_pinning();
  void deliver(Batch& batch);

  const Plan& plan_;
  World& world_;
  Folder& folder_;
  std::int32_t rank_;
  std::function<void(Batch&)> arrived_;
  std::vector<Feeder> feeders_;  // by worker

  Fifo<Batch*> to_pin_;
  Batch* pinning_ = nullptr;
  bool pin_receives_ = false;  // of `pinning_`: it is being received
  Ongoing pin_work_;
};

}  // namespace loaderscope::model
