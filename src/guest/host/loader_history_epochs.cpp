// Begin of an epoch, and removal of old epochs.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "guest/host/loader_history.h"

namespace loaderscope::guest {

// The script's own work between two epochs counts as its work, as between two batches. The time in
// which the iterator ended is booked right before the next epoch.
void LoaderHistory::begin_epoch(const GuestEvent& fact, const LoaderFacts& loader) {
  if (open_) {
    const Nanos take = batches_known_[*open_].given;
    close_step(std::max(take, fact.begin - stopped_for_.value_or(0)));
  }
  const Nanos ending = std::exchange(stopped_for_, std::nullopt).value_or(0);
  if (first_ask_ == 0) {
    first_ask_ = fact.begin;
    window_->first_ask(first_ask_);
  }
  forget_cut_short();
  forget_long_over();
  time_.begin_epoch();
  Epoch& epoch = epochs_[{fact.iterator, fact.generation}];
  epoch = Epoch{};
  epoch.begun = fact.begin;
  epoch.by_trainer = loader.seen_workers() == 0;
  epoch.busy_since = fact.begin - ending;
  epoch.taken_in = ++epoch_;
  loader_ = loader;
}

// Batches of an epoch that was left before its end are never taken: it gave none since the one
// before the next began.
void LoaderHistory::forget_cut_short() {
  for (auto batch = batches_known_.begin(); batch != batches_known_.end();) {
    const Epoch* epoch = batch->second.epoch;
    const bool is_left =
        batch->second.events.take == 0 && (epoch == nullptr || epoch->taken_in < epoch_);
    batch = is_left ? batches_known_.erase(batch) : std::next(batch);
  }
}

// Forgets epochs that many others have followed. No report about them can come.
void LoaderHistory::forget_long_over() {
  constexpr std::size_t kMaxEpochs = 4096;
  constexpr std::int32_t kLongOver = 1024;  // epochs
  if (epochs_.size() < kMaxEpochs) return;
  std::set<const Epoch*> needed;
  for (const auto& [number, batch] : batches_known_) needed.insert(batch.epoch);
  std::erase_if(epochs_, [&](const auto& one) {
    return one.second.taken_in + kLongOver < epoch_ && !needed.contains(&one.second);
  });
}

// One worker after another: what is between two of them belongs to the later one, and the end of
// those of the epoch before to the first.
void LoaderHistory::started(const GuestEvent& fact, Epoch& epoch) {
  Span span;
  span.begin = std::min(epoch.busy_since, fact.begin);
  span.end = epoch.busy_since = fact.end;
  span.cpu = fact.cpu;
  span.stage = Stage::startup_parent;
  starts_[fact.worker] = span;
}

}  // namespace loaderscope::guest
