#include "guest/library/stage_stack.h"

#include <algorithm>

namespace loaderscope::guest {
namespace {

void say(std::atomic<std::int64_t>& place, std::int64_t value) {
  place.store(value, std::memory_order_relaxed);
}

}  // namespace

// Between the samples of a batch the next span takes up what little there is.
void StageStack::resume() {
  if (stages_.size() > 1 || in_sample_)
    scope_.emplace(writer_, stages_.back(), StageScope::Kind::runs);
  say_stage();
}

void StageStack::say_stage() {
  say(doing_.stage, stages_.empty() ? Doing::kNone : static_cast<std::int64_t>(stages_.back()));
}

void StageStack::begin_work(std::int64_t batch) {
  if (!stages_.empty()) end_work(false);
  writer_.begin_batch(batch);
  writer_.begin_sample(-1);
  in_sample_ = false;
  stages_.push_back(Stage::opaque);
  say(doing_.sample, Doing::kNone);
  say(doing_.batch, batch);
  say_stage();
}

void StageStack::sample(std::int64_t sample) {
  if (stages_.empty()) return;
  scope_.reset();
  writer_.end_sample();
  writer_.begin_sample(std::max<std::int64_t>(sample, -1));
  in_sample_ = sample != kBetweenSamples;
  say(doing_.sample, sample);
  stages_.resize(1);
  resume();
}

void StageStack::enter(Stage stage) {
  if (stages_.empty()) return;
  scope_.reset();
  stages_.push_back(stage);
  resume();
}

void StageStack::leave(Bytes bytes) {
  if (stages_.size() < 2) return;  // entered before the batch was begun
  scope_->handled(bytes);
  scope_.reset();
  stages_.pop_back();
  resume();
}

void StageStack::end_work(bool goes_on_elsewhere) {
  if (stages_.empty()) return;
  scope_.reset();
  stages_.clear();
  say(doing_.batch, Doing::kNone);
  say(doing_.sample, Doing::kNone);
  say_stage();
  writer_.end_sample();
  if (goes_on_elsewhere) writer_.pause();
}

}  // namespace loaderscope::guest
