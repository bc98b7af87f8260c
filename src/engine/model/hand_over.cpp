#include "engine/model/hand_over.h"

#include <utility>

namespace loaderscope::model {

HandOver::HandOver(const Plan& plan, World& world, Folder& folder, std::int32_t rank,
                   std::function<void(Batch&)> arrived)
    : plan_(plan),
      world_(world),
      folder_(folder),
      rank_(rank),
      arrived_(std::move(arrived)),
      feeders_(static_cast<std::size_t>(plan.workers)) {}

void HandOver::finished(std::int32_t worker, Batch& batch) {
  if (!plan_.send.active() || plan_.made_by_trainer) {
    sent(batch);
    return;
  }
  Feeder& feeder = feeders_[static_cast<std::size_t>(worker)];
  feeder.to_send.push_back(&batch);
  if (!feeder.sending) send_next(worker);
}

void HandOver::send_next(std::int32_t worker) {
  Feeder& feeder = feeders_[static_cast<std::size_t>(worker)];
  feeder.sending = !feeder.to_send.empty();
  if (!feeder.sending) return;
  const StageTime time = plan_.send.time(execution(worker, *feeder.to_send.front()));
  world_.begin(who(Role::feeder, worker), time, feeder.work);
}

void HandOver::wake_feeder(std::int32_t worker) {
  Feeder& feeder = feeders_[static_cast<std::size_t>(worker)];
  Batch& batch = *feeder.to_send.front();
  feeder.to_send.pop_front();
  batch.events.send = world_.end(feeder.work);
  sent(batch);
  send_next(worker);
}

void HandOver::sent(Batch& batch) {
  if (!plan_.pin_thread) {
    deliver(batch);
    return;
  }
  to_pin_.push_back(&batch);
  if (pinning_ == nullptr) pin_next();
}

void HandOver::pin_next() {
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

void HandOver::begin_pinning() {
  pin_receives_ = false;
  world_.begin(who(Role::pin_thread, 0), plan_.pin.time(execution(-1, *pinning_)), pin_work_);
}

void HandOver::wake_pin_thread() {
  const Interval interval = world_.end(pin_work_);
  if (pin_receives_) {
    pinning_->events.receive = interval;
    begin_pinning();
    return;
  }
  pinning_->events.pin = interval;
  Batch& batch = *std::exchange(pinning_, nullptr);
  deliver(batch);
  pin_next();
}

void HandOver::deliver(Batch& batch) {
  batch.events.deliverable = world_.now();
  folder_.deliverable(rank_, batch.events.batch, world_.now());
  arrived_(batch);
}

}  // namespace loaderscope::model
