#include "guest/library/stage_stack.h"

#include <algorithm>

#include "guest/library/observers.h"

namespace loaderscope::guest {
namespace {

void say(std::atomic<std::int64_t>& place, std::int64_t value) {
  place.store(value, std::memory_order_relaxed);
}

}  // namespace

// Between the samples of a batch the next span takes up what little there is.
void StageStack::resume() {
  if (stages_.size() > 1 || is_in_sample_)
    scope_.emplace(writer_, stages_.back(), StageScope::Kind::runs);
  say_stage();
}

void StageStack::say_stage() {
  say(current_work_.stage,
      stages_.empty() ? CurrentWork::kNone : static_cast<std::int64_t>(stages_.back()));
}

// Ends the span. Known work of other threads is split off from `opaque`, if this thread waited.
void StageStack::end_span() {
  if (!scope_) return;
  scope_.reset();
  if (!operators::known() || stages_.back() != Stage::opaque) return;
  const Span* span = writer_.last();
  if (span != nullptr && 2 * span->cpu < span->end - span->begin)
    writer_.split_last_span(operators::between(span->begin, span->end));
}

void StageStack::begin_work(std::int64_t batch, bool is_timed) {
  if (!stages_.empty()) end_work(false);
  is_timed_ = is_timed;
  named_inside_ = read_inside_ = 0;
  writer_.begin_batch(batch);
  writer_.begin_sample(-1);
  is_in_sample_ = false;
  stages_.push_back(Stage::opaque);
  say(current_work_.sample, CurrentWork::kNone);
  say(current_work_.batch, batch);
  say_stage();
}

void StageStack::sample(std::int64_t sample) {
  if (stages_.empty()) return;
  end_span();
  writer_.end_sample();
  writer_.begin_sample(std::max<std::int64_t>(sample, -1));
  is_in_sample_ = sample != kBetweenSamples;
  say(current_work_.sample, sample);
  stages_.resize(1);
  depth_ = 0;
  resume();
}

void StageStack::enter(Stage stage) {
  if (stages_.empty()) return;
  end_span();
  stages_.push_back(stage);
  ++depth_;
  resume();
}

void StageStack::leave(Bytes bytes) {
  if (stages_.size() < 2) return;  // entered before the batch was begun
  scope_->handled(bytes);
  end_span();
  stages_.pop_back();
  --depth_;
  resume();
}

StageStack::Call StageStack::begin_call(Stage stage) {
  const bool is_span = !is_in_stage() || stages_.back() != stage;
  if (is_span)
    enter(stage);
  else
    ++depth_;
  const Nanos begun = is_span ? writer_.last_end() : monotonic_now();
  const Call call = {stage, depth_, is_span, begun, read_inside_, named_inside_};
  if (stage == Stage::read) read_inside_ = 0;
  named_inside_ = 0;
  return call;
}

// Returns 0 if the work has moved on since the call, for example to another batch. The time belongs
// to no stage then.
Nanos StageStack::end_call(const Call& call, bool has_name) {
  if (depth_ != call.depth || (call.is_span && stages_.back() != call.stage)) return 0;
  const Bytes bytes = call.stage == Stage::read ? read_inside_ : 0;
  if (call.stage == Stage::read) read_inside_ = call.read_around;
  if (call.is_span) {
    leave(bytes);
  } else {
    --depth_;
    if (call.stage == Stage::read) read_inside_ += bytes;
  }
  const Nanos duration = (call.is_span ? writer_.last_end() : monotonic_now()) - call.begun;
  const Nanos own = duration - named_inside_;
  named_inside_ = call.named_around + (has_name ? duration : named_inside_);
  return own;
}

void StageStack::end_work(bool continues_elsewhere) {
  if (stages_.empty()) return;
  end_span();
  stages_.clear();
  depth_ = 0;
  say(current_work_.batch, CurrentWork::kNone);
  say(current_work_.sample, CurrentWork::kNone);
  say_stage();
  writer_.end_sample();
  if (continues_elsewhere) writer_.skip();
}

}  // namespace loaderscope::guest
