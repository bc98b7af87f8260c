#include "engine/model/batch_transport.h"

#include <utility>

namespace loaderscope::model {

BatchTransport::BatchTransport(const LoaderPlan& plan, SimulatedMachine& world, std::int32_t rank,
                               std::function<void(ModelBatch&)> arrived)
    : plan_(plan),
      world_(world),
      rank_(rank),
      arrived_(std::move(arrived)),
      feeders_(static_cast<std::size_t>(plan.workers)) {}

void BatchTransport::finished(std::int32_t worker, ModelBatch& batch) {
  if (!plan_.send.active() || plan_.made_by_trainer) {
    sent(batch);
    return;
  }
  Feeder& feeder = feeders_[static_cast<std::size_t>(worker)];
  feeder.to_send.push_back(&batch);
  if (!feeder.sending) send_next(worker);
}

void BatchTransport::send_next(std::int32_t worker) {
  Feeder& feeder = feeders_[static_cast<std::size_t>(worker)];
  feeder.sending = !feeder.to_send.empty();
  if (!feeder.sending) return;
  const StageTime time = plan_.send.time(execution(worker, *feeder.to_send.front()));
  world_.begin(who(Role::feeder, worker), time, feeder.work);
}

void BatchTransport::wake_feeder(std::int32_t worker) {
  Feeder& feeder = feeders_[static_cast<std::size_t>(worker)];
  ModelBatch& batch = *feeder.to_send.front();
  feeder.to_send.pop_front();
  batch.events.send = world_.end(feeder.work);
  sent(batch);
  send_next(worker);
}

void BatchTransport::sent(ModelBatch& batch) {
  if (!plan_.has_receiver()) {
    arrived_(batch);
    return;
  }
  to_pin_.push_back(&batch);
  if (pinning_ == nullptr) pin_next();
}

void BatchTransport::pin_next() {
  if (to_pin_.empty()) return;
  pinning_ = to_pin_.front();
  to_pin_.pop_front();
  pin_receives_ = plan_.receive.active() && !plan_.made_by_trainer;
  if (!pin_receives_) {
    begin_pinning();
    return;
  }
  world_.begin(who(Role::pin_thread, 0), plan_.receive_time(execution(-1, *pinning_)), pin_work_);
}

void BatchTransport::begin_pinning() {
  pin_receives_ = false;
  if (!plan_.pin_thread) {
    received();
    return;
  }
  world_.begin(who(Role::pin_thread, 0), plan_.pin.time(execution(-1, *pinning_)), pin_work_);
}

void BatchTransport::wake_pin_thread() {
  const Interval interval = world_.end(pin_work_);
  if (pin_receives_) {
    pinning_->events.receive = interval;
    begin_pinning();
    return;
  }
  pinning_->events.pin = interval;
  received();
}

void BatchTransport::received() {
  ModelBatch& batch = *std::exchange(pinning_, nullptr);
  arrived_(batch);
  pin_next();
}

}  // namespace loaderscope::model
