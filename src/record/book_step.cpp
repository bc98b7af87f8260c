// Account of one step: the cause of the wait at each instant, from its compute back to the end of
// the previous compute. The rules and their order are those of the account in the design.
#include <algorithm>

#include "base/time_range.h"
#include "record/book_step.h"

namespace loaderscope {
namespace {

TimeRange time_range(const Interval& interval) { return {interval.begin, interval.end}; }

// Books ranges of one step's idle time into its row.
class StallBooker {
 public:
  StallBooker(const StepView& step, StepRow& row) : step_(step), events_(*step.events), row_(row) {}

  // Books all of `idle`, a range in which the device waited for `step`.
  void book(TimeRange idle) {
    const bool on_device = events_.has_device_thread();
    const Nanos handed = on_device ? events_.handed : events_.deliverable;
    const Nanos made =
        on_device && events_.is_made_late() ? events_.made_end() : events_.deliverable;
    const TimeRange after = intersect(idle, {made, kNever});
    book_with_trainer(intersect(after, {events_.take, kNever}));
    book_hand_over(intersect(after, {events_.deliverable, events_.take}));
    if (on_device) book_device(intersect(idle, {handed, made}));
    book_finished(intersect(idle, {events_.finished, handed}));
    book_production({idle.begin, std::min(idle.end, events_.finished)});
    row_.order += intersect(idle, {step_.later_ready, events_.deliverable}).length();
  }

  // Adds the second label of the idle time that was booked to production. Start-up has its why
  // already.
  void label_production() {
    label(produced_, events_.worker_idle);
    label(made_on_device_, step_.lanes_rested);
  }

 private:
  // Labels `made` ns. `rested`: their maker was idle before because there was no room.
  void label(Nanos made, Nanos rested) {
    if (events_.first_of_epoch) {
      row_.why[Why::epoch] += made;
      return;
    }
    const Nanos depth = std::min(rested, made);
    row_.why[Why::depth] += depth;
    row_.why[rested == 0 ? Why::capacity : Why::latency] += made - depth;
  }

  // Applies rules 1 and 2: the trainer had the batch. The device does not wait for a launch that
  // runs while the batch is copied, or while the device makes it for the trainer.
  void book_with_trainer(TimeRange idle) {
    if (idle.empty()) return;
    const auto book_launch = [&](Nanos until) {
      const TimeRange side = {idle.begin, until};
      if (!side.empty()) add(Cause::launch, side.length(), queued_time(events_.launch, side));
    };
    // Returns the part of `work` that is waited for, and books the launch before it.
    const auto next = [&](const Interval& work) {
      const TimeRange inside = intersect(idle, time_range(work));
      if (inside.empty()) return inside;
      book_launch(inside.begin);
      idle.begin = inside.end;
      return inside;
    };
    const TimeRange copying = next(events_.copy);
    add(Cause::h2d, copying.length(), queued_time(events_.copy, copying));
    if (events_.submitted_by_trainer) {
      for (const DeviceWork& task : events_.device_work())
        book_task(task.stage, next(task.at).length());
    }
    book_launch(idle.end);
  }

  void book_task(Stage stage, Nanos length) {
    const Cause cause = stage_cause(stage);
    add(cause, length);
    if (!makes_batches(cause)) return;
    made_on_device_ += length;
    (cause == Cause::decode ? row_.device.decode : row_.device.augment) += length;
  }

  // Applies rules 2 and 4: the batch was ready to be taken. The trainer may have received the
  // notification and waited for a core.
  void book_hand_over(TimeRange idle) {
    if (idle.empty()) return;
    book_not_asking(intersect(idle, {events_.deliverable, events_.ask}));
    const TimeRange asking = intersect(idle, {events_.ask, events_.take});
    const bool receives = events_.trainer_receives();
    const Nanos continued = receives ? std::min(events_.receive.begin, events_.take) : events_.take;
    const Nanos waking = intersect(asking, {continued - events_.take_queued, continued}).length();
    const Nanos answering = receives ? book_answering(asking) : 0;
    add(Cause::transport, asking.length() - answering,
        waking + queued_time(events_.receive, asking));
  }

  void book_not_asking(TimeRange idle) {
    const Nanos queued = intersect(idle, {events_.ask - events_.ask_queued, events_.ask}).length();
    add(Cause::launch, idle.length(), queued);
    row_.not_asking += idle.length() - queued;
  }

  // The device thread has the batch.
  void book_device(TimeRange idle) {
    if (idle.empty()) return;
    visit_device_waits(events_, idle, [&](const DeviceWait& wait) {
      const Cause cause = stage_cause(wait.task->stage);
      const Nanos length = wait.range.length(), booked = length - wait.queued;
      add(cause, length, wait.queued);
      if (!wait.runs) row_.device.lane_wait += booked;
      if (!makes_batches(cause)) return;
      made_on_device_ += length;
      (cause == Cause::decode ? row_.device.decode : row_.device.augment) += booked;
    });
  }

  // Rules 3 and 4: finished, on its way to the trainer. While it waits for the pin thread or is
  // pinned the cause is `pin`; while it is sent or received, or waits for its feeder, `transport`,
  // whether the trainer asks or not.
  void book_finished(TimeRange idle) {
    if (idle.empty()) return;
    const Interval& pin = events_.pin;
    const Nanos sent = events_.send.ran() ? events_.send.end : events_.finished;
    const TimeRange sending = intersect(idle, {sent, pin.ran() ? pin.end : kNever});
    const TimeRange receiving = intersect(sending, time_range(events_.receive));
    Nanos pinning = 0;
    if (pin.ran()) {
      pinning = sending.length() - receiving.length();
      const Nanos received = events_.receive.ran() ? events_.receive.end : sent;
      add(Cause::pin, pinning, queued_time(pin, intersect(sending, {received, pin.end})));
    }
    const Nanos sent_from = events_.send.ran() ? events_.send.begin : events_.finished;
    const Nanos made =
        book_answering(receiving) +
        book_maker(intersect(idle, {sent_from - events_.kept_from_sending, sent_from}).length());
    add(Cause::transport, idle.length() - pinning - made,
        queued_time(events_.send, {idle.begin, std::min(idle.end, sent)}) +
            queued_time(events_.receive, receiving));
  }

  // Books the part of `within` in which the worker was asked for the memory of the batch and was
  // busy. The cause is the work that kept the worker busy.
  Nanos book_answering(TimeRange within) {
    const TimeRange whole = time_range(events_.receive), inside = intersect(within, whole);
    if (events_.answering == 0 || inside.empty()) return 0;
    const Nanos most = whole.length() - events_.receive.cpu - events_.receive.queued;
    return book_maker(prorate(std::clamp<Nanos>(events_.answering, 0, most), whole, inside));
  }

  Nanos book_maker(Nanos ns) {
    add(step_.maker, ns);
    if (makes_batches(step_.maker)) produced_ += ns;
    return ns;
  }

  // Rules 5 to 8: not finished. Everything booked here also gets a why.
  void book_production(TimeRange idle) {
    if (idle.empty()) return;
    if (events_.made_by_trainer) {
      // The trainer is the worker: before it asked it did something else.
      const TimeRange before_ask = {idle.begin, std::min(idle.end, events_.ask)};
      if (!events_.first_of_epoch) {
        book_not_asking(before_ask);
        idle.begin = std::max(idle.begin, before_ask.end);
      }
    }
    if (events_.first_of_epoch) {
      const TimeRange before_dispatch = {idle.begin, std::min(idle.end, events_.epoch_dispatch)};
      add(Cause::startup, before_dispatch.length());
      row_.why[Why::epoch] += before_dispatch.length();
      idle.begin = std::max(idle.begin, before_dispatch.end);
    }
    book_worker(idle);
  }

  // Books the spans of the worker. A gap before its first span, or before its (re)start, is booked
  // to the missing worker. Any other gap is `other`.
  void book_worker(TimeRange idle) {
    if (idle.empty()) return;
    const WorkerTimeline spans = step_.worker;
    auto span = std::partition_point(spans.begin(), spans.end(),
                                     [&](const Span& s) { return s.end <= idle.begin; });
    Nanos at = idle.begin;
    bool up = step_.worker_was_up || span != spans.begin();
    for (; span != spans.end() && span->begin < idle.end; ++span) {
      const TimeRange inside = intersect(idle, {span->begin, span->end});
      book_gap({at, inside.begin}, up && !is_startup(span->stage));
      book_span(*span, inside);
      at = inside.end;
      up = true;
    }
    book_gap({at, idle.end}, true);
  }

  void book_gap(TimeRange gap, bool worker_was_up) {
    if (gap.empty()) return;
    if (worker_was_up) {
      add(Cause::other, gap.length());
      return;
    }
    add(Cause::startup, gap.length());
    row_.why[Why::epoch] += gap.length();
  }

  void book_span(const Span& span, TimeRange inside) {
    if (is_startup(span.stage)) {
      add(Cause::startup, inside.length());
      row_.why[Why::epoch] += inside.length();
      return;
    }
    const Nanos queued =
        span.stage == Stage::idle ? 0 : prorate(span.queued, {span.begin, span.end}, inside);
    add(stage_cause(span.stage), inside.length(), queued);
    produced_ += inside.length();
  }

  void add(Cause cause, Nanos ns) { row_.stall[cause] += ns; }
  // Books `ns`. One of our threads waited for a core during `queued` of them.
  void add(Cause cause, Nanos ns, Nanos queued) {
    add(Cause::contention, queued);
    add(cause, ns - queued);
  }

  const StepView& step_;
  const StepEvents& events_;
  StepRow& row_;
  Nanos produced_ = 0;        // ns of workers that get a why
  Nanos made_on_device_ = 0;  // ns of the device that get a why
};

StepRow make_row(const StepEvents& events, Nanos idle_begin) {
  StepRow row;
  row.step = events.step;
  row.epoch = events.epoch;
  row.worker = events.worker;
  row.samples = events.samples;
  row.warmup = events.warmup;
  row.first_of_epoch = events.first_of_epoch;
  row.ask = events.ask;
  row.deliverable = events.deliverable;
  row.take = events.take;
  row.copy_begin = events.copy.ran() ? events.copy.begin : events.take;
  row.copy_end = events.copy.ran() ? events.copy.end : events.take;
  row.idle_begin = idle_begin;
  row.compute_begin = events.compute.begin;
  row.compute_end = events.compute.end;
  if (events.is_made_late()) row.made_end = events.made_end();
  return row;
}

}  // namespace

Nanos clamp_into_order(StepEvents& events, Nanos idle_begin) {
  Nanos moved = 0;
  const auto raise = [&](Nanos& value, Nanos at_least) {
    if (value >= at_least) return;
    moved += at_least - value;
    value = at_least;
  };
  const std::span tasks(events.made.data(), events.device_work().size());
  const auto raise_task = [&](DeviceWork& task, Nanos at_least) {
    raise(task.submit.begin, events.handed);
    raise(task.submit.end, task.submit.begin);
    raise(task.at.begin, std::max(task.submit.begin, at_least));
    raise(task.at.end, task.at.begin);
  };
  if (events.has_device_thread()) {
    raise(events.handed, events.finished);
    raise(events.deliverable, events.handed);
    for (DeviceWork& task : tasks) raise_task(task, task.submit.begin);
  }
  raise(events.deliverable, events.finished);
  raise(events.take, std::max(events.ask, events.deliverable));
  if (events.copy.ran()) {
    raise(events.copy.begin, events.take);
    raise(events.copy.end, events.copy.begin);
  }
  if (events.has_device_thread()) {
    raise(events.submitted, events.take);
  } else if (!tasks.empty()) {
    events.handed = events.submitted = events.take;
    Nanos at = events.copy.ran() ? events.copy.end : events.take;
    for (DeviceWork& task : tasks) {
      raise_task(task, at);
      at = task.at.end;
    }
  }
  const Nanos copied =
      std::max(events.copy.ran() ? events.copy.end : events.take, events.made_end());
  raise(events.compute.begin, std::max(idle_begin, copied));
  raise(events.compute.end, events.compute.begin);
  // `ready` is derived, not measured: bringing it into its range moves nothing.
  events.ready = std::clamp(events.ready, std::max(idle_begin, copied), events.compute.begin);
  return moved;
}

StepRow book_step(const StepView& step, const StepView* straggler) {
  const StepEvents& events = *step.events;
  StepRow row = make_row(events, step.idle_begin);
  const Nanos own_end = straggler ? events.ready : events.compute.begin;
  StallBooker own(step, row);
  own.book({step.idle_begin, own_end});
  own.label_production();
  if (straggler == nullptr) return row;

  const TimeRange waiting = {own_end, events.compute.begin};
  row.waiting_for_ranks = waiting.length();
  // The rank waits for nothing else while the slowest rank computes its previous step.
  const Nanos computing = intersect(waiting, {waiting.begin, straggler->idle_begin}).length();
  row.stall[Cause::launch] += computing;
  StallBooker others(*straggler, row);
  others.book({waiting.begin + computing, waiting.end});
  others.label_production();
  return row;
}

}  // namespace loaderscope
