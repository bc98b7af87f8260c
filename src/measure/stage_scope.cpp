#include "measure/stage_scope.h"

#include <algorithm>

namespace loaderscope {
namespace {

Nanos off_cpu(const Span& span) { return std::max<Nanos>(span.end - span.begin - span.cpu, 0); }

}  // namespace

void SpanWriter::add(const Span& measured, bool may_wait_for_cpu) {
  Span span = measured;
  span.batch = batch_;
  span.sample = is_per_sample(span.stage) ? sample_ : -1;
  // The two clocks are read one after the other: a busy thread may seem to have used a little more
  // CPU than time.
  span.cpu = std::clamp<Nanos>(span.cpu, 0, span.end - span.begin);
  if (open_count_ == open_.size()) end_sample();
  open_[open_count_++] = {span, may_wait_for_cpu};
}

void SpanWriter::end_sample() {
  if (log_ == nullptr || open_count_ == 0) return;
  Nanos waited = 0;
  for (std::size_t i = 0; i < open_count_; ++i) {
    if (open_[i].may_wait_for_cpu) waited += off_cpu(open_[i].span);
  }
  const Nanos queued = std::clamp<Nanos>(run_queue_.read(), 0, waited);
  Nanos given = 0, seen = 0;
  for (std::size_t i = 0; i < open_count_; ++i) {
    Span& span = open_[i].span;
    if (open_[i].may_wait_for_cpu && waited > 0) {
      seen += off_cpu(span);
      const auto up_to_here = static_cast<Nanos>(
          static_cast<double>(queued) * static_cast<double>(seen) / static_cast<double>(waited));
      span.queued = std::min(up_to_here - given, off_cpu(span));
      given += span.queued;
    }
    log_->span(span);
  }
  open_count_ = 0;
}

void SpanWriter::write(Stage stage, Nanos begin, Nanos end) {
  if (log_ == nullptr || end <= begin) return;
  Span span;
  span.begin = begin;
  span.end = end;
  span.stage = stage;
  log_->span(span);
}

}  // namespace loaderscope
