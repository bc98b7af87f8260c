// The batches that the program takes, and what its own thread does for them.
#include <algorithm>

#include "guest/host/loader_history.h"

namespace loaderscope::guest {

void LoaderHistory::chosen(const GuestEvent& fact) {
  choice_ = interval_of(fact);
  choosing_ += fact.end - fact.begin;
  ++chosen_;
}

// Books the time of the sampler, which is the trainer's own time. With workers, PyTorch's iterator
// receives a batch and chooses the samples of a later one before it returns. Without workers, it
// chooses the samples of the batch that it makes next.
void LoaderHistory::put_choice(StepEvents& events) const {
  const bool within = choice_.ran() && choice_.begin >= asked_ && choice_.end <= events.take;
  if (!within) return;
  events.launch = choice_;
  if (!events.made_by_trainer) {
    events.take = choice_.begin;
  } else if (!events.first_of_epoch) {
    events.ask = choice_.end;
    events.ask_queued = choice_.queued;
  }
}

void LoaderHistory::taken(const GuestEvent& fact, std::int64_t batch, Epoch& epoch) {
  if (open_) close_step(asked_);
  // A batch that is taken for another one is none whose making is known.
  if (batches_known_[batch].events.take != 0) batch = batches_++;
  if (const auto last = batches_known_.find(taken_last_.value_or(-1)); last != batches_known_.end())
    last->second.next_take = fact.begin;
  taken_last_ = batch;
  Batch& taken = batches_known_[batch];
  StepEvents& events = taken.events;
  events.step = steps_++;
  events.batch = batch;
  events.epoch = epoch_;
  events.first_of_epoch = epoch.fresh;
  events.epoch_dispatch = epoch.dispatch > 0 ? epoch.dispatch : epoch.begun;
  events.made_by_trainer = epoch.by_trainer;
  events.ask = epoch.fresh ? epoch.begun : asked_;
  events.take = fact.begin;
  time_.got(events.ask, events.take);
  taken.given = events.take;
  put_choice(events);
  events.take_queued =
      std::clamp<Nanos>(fact.queued, 0, std::max<Nanos>(events.take - events.ask, 0));
  if (epoch.fresh) {
    between_epochs_ += fact.begin - (last_taken_ > 0 ? last_taken_ : fact.begin);
    ++epochs_taken_from_;
  }
  epoch.fresh = false;
  epoch.taken_in = epoch_;
  if (trains_itself()) {
    open_ = batch;
  } else {
    on_device_[events.step] = batch;
  }
  last_taken_ = fact.begin;
  with_gradients_ |= (fact.count & 1) != 0;
  optimizer_waits_ = (fact.count & 2) != 0;
}

// Adds a step without work of the loader. Its number is negative, so it takes none of the loader's
// numbers.
void LoaderHistory::replayed(const GuestEvent& fact, Epoch& epoch) {
  const std::int64_t number = -++replays_;
  Batch& again = batches_known_[number];
  again.begun = again.finished = again.sent = again.received = true;
  again.replays = fact.batch;
  StepEvents& events = again.events;
  events.dispatched = events.begun = events.finished = events.deliverable = asked_;
  taken(fact, number, epoch);
}

void LoaderHistory::waited_for(std::int32_t other, const WaitForBatch& wait) {
  if (!open_ || time_.asks() || time_.thread() != wait.thread) return;
  Batch& batch = batches_known_[*open_];
  const Nanos within = wait.end - std::max(wait.begin, batch.given);
  if (within <= 0) return;
  batch.for_others += within;
  waited_for_others_[other] += within;
}

// Adds the wrapper's own time. It is reported when the wrapper's batch has been taken, or the next
// one.
void LoaderHistory::wrapped(Nanos length) {
  if (!open_ || length <= 0) return;
  batches_known_[*open_].for_others += length;
  wrapped_ += length;
}

void LoaderHistory::moved(std::int64_t batch, Nanos length) {
  const auto found = batches_known_.find(batch);
  if (found != batches_known_.end()) found->second.moved += length;
}

}  // namespace loaderscope::guest
