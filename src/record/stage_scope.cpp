#include "record/stage_scope.h"

#include <algorithm>

#include "base/thread_meter.h"

namespace loaderscope {
namespace {

Nanos off_cpu(const Span& span) { return std::max<Nanos>(span.end - span.begin - span.cpu, 0); }

}  // namespace

void SpanWriter::add(const Span& measured, Nanos may_queue, Nanos own) {
  Span span = measured;
  span.batch = batch_;
  span.sample = is_per_sample(span.stage) ? sample_ : -1;
  // The two clocks are read one after the other: a busy thread may seem to have used a little more
  // CPU than time.
  span.cpu = std::clamp<Nanos>(span.cpu, 0, span.end - span.begin);
  if (open_count_ == open_.size()) end_sample();
  open_[open_count_++] = {span, std::min(may_queue, std::max<Nanos>(off_cpu(span) - own, 0))};
}

void SpanWriter::split_last_span(const std::vector<Span>& parts) {
  if (log_ == nullptr || open_count_ == 0 || parts.empty()) return;
  const Open whole = open_[--open_count_];
  Nanos others = 0;
  for (const Span& part : parts) others += part.end - part.begin;
  const Nanos own = std::max<Nanos>(whole.span.end - whole.span.begin - others, 1);
  const auto add_own = [&](Nanos begin, Nanos end) {
    if (end <= begin) return;
    const double share = static_cast<double>(end - begin) / static_cast<double>(own);
    const auto scaled = [&](Nanos all) {
      return static_cast<Nanos>(static_cast<double>(all) * share);
    };
    Span rest = whole.span;
    rest.begin = begin;
    rest.end = end;
    rest.cpu = scaled(whole.span.cpu);
    rest.bytes = 0;
    add(rest, scaled(whole.may_queue), 0);
  };
  Nanos at = whole.span.begin;
  for (const Span& part : parts) {
    add_own(at, part.begin);
    add(part, 0, 0);
    at = part.end;
  }
  add_own(at, whole.span.end);
}

void SpanWriter::end_sample() {
  if (log_ == nullptr || open_count_ == 0) return;
  Nanos waited = 0;
  for (std::size_t i = 0; i < open_count_; ++i) waited += open_[i].may_queue;
  const Nanos queued = std::clamp<Nanos>(run_queue_.read_if_it_left(), 0, waited);
  Nanos given = 0, seen = 0;
  for (std::size_t i = 0; i < open_count_; ++i) {
    Span& span = open_[i].span;
    seen += open_[i].may_queue;
    if (waited > 0) {
      const auto up_to_here = static_cast<Nanos>(
          static_cast<double>(queued) * static_cast<double>(seen) / static_cast<double>(waited));
      span.queued = std::min(up_to_here - given, open_[i].may_queue);
      given += span.queued;
    }
    log_->span(span);
  }
  open_count_ = 0;
}

void SpanWriter::started_by_parent(const Interval& parent_start) {
  if (log_ != nullptr) write(Stage::startup_parent, parent_start.begin, parent_start.end);
}

void SpanWriter::start_up(Nanos begin, Nanos end) {
  if (log_ == nullptr) return;
  run_queue_.read_if_it_left();  // is part of it
  edge_ = cpu_.read();
  if (end <= begin) return;
  // The thread began with the start, so all that it took so far is the start's.
  Span span;
  span.begin = begin;
  span.end = end;
  span.stage = Stage::startup;
  span.cpu = std::clamp<Nanos>(edge_.cpu, 0, end - begin);
  span.queued = std::clamp<Nanos>(run_queue_delay_of_thread(), 0, end - begin - span.cpu);
  log_->span(span);
}

void SpanWriter::record_idle(Nanos begin, Nanos end) {
  if (log_ == nullptr) return;
  write(Stage::idle, edge_.at > 0 ? edge_.at : begin, end);
  edge_ = {std::max(begin, end), cpu_.read().cpu};
}

void SpanWriter::write(Stage stage, Nanos begin, Nanos end) {
  if (end <= begin) return;
  Span span;
  span.begin = begin;
  span.end = end;
  span.stage = stage;
  log_->span(span);
}

void StageScope::add_part() {
  Span span;
  span.begin = span_.end;
  span.end = span_.end + part_.wall;
  span.cpu = part_.cpu;
  span.stage = part_.stage;
  writer_.add(span, part_.wall, 0);
}

}  // namespace loaderscope
