#include "record/critical_path_tracker.h"

#include <algorithm>
#include <numeric>

namespace loaderscope {
namespace {

// Forgets what lies before the last that no later event can reach over: times only grow.
void forget_before(Fifo<PathTail>& chains, Nanos at) {
  while (chains.size() > 1 && chains[1].end <= at) chains.pop_front();
}

// Their times only grow.
const PathTail* last_until(const Fifo<PathTail>& chains, Nanos at) {
  std::size_t until = 0, later = chains.size();
  while (until < later) {
    const std::size_t middle = (until + later) / 2;
    if (chains[middle].end <= at)
      until = middle + 1;
    else
      later = middle;
  }
  return until == 0 ? nullptr : &chains[until - 1];
}

}  // namespace

void PathTail::extend(Nanos until, Cause cause, Nanos queued) {
  if (!known() || until <= end) return;
  const Nanos waited = std::clamp<Nanos>(queued, 0, until - end);
  path.stall[Cause::contention] += waited;
  path.stall[cause] += until - end - waited;
  end = until;
}

void PathTail::compute(Nanos until) {
  if (!known() || until <= end) return;
  path.compute += until - end;
  end = until;
}

void CriticalPathTracker::first_ask(Nanos at) {
  trainer_ = {};
  trainer_.end = at;
  last_compute_ = trainer_;
}

const PathTail* CriticalPathTracker::compute_before(Nanos at) const {
  return last_until(computes_, at);
}

// Returns the candidate that ended last, at or before `at`: the event that was waited for. Returns
// the first of equal candidates.
PathTail CriticalPathTracker::latest(std::initializer_list<const PathTail*> candidates,
                                     Nanos at) const {
  const PathTail* found = nullptr;
  for (const PathTail* chain : candidates) {
    if (chain == nullptr || !chain->reaches(at)) continue;
    if (found == nullptr || chain->end > found->end) found = chain;
  }
  return found != nullptr ? *found : trainer_;
}

void CriticalPathTracker::begin_step(const StepEvents& events) {
  // The device thread may have waited for a compute that freed a slot.
  const bool on_device = events.has_device_thread();
  forget_before(computes_, on_device ? std::min(events.ask, deliverable_) : events.ask);
  deliverable_ = events.deliverable;
  if (!on_device) made_ = {};
  asked_ = latest({&trainer_, &copied_, compute_before(events.ask)}, events.ask);
  asked_.extend(events.ask, Cause::launch, events.ask_queued);
  dispatched_ = events.dispatched;
  epoch_ = events.epoch;
  if (events.first_of_epoch || events.made_by_trainer) {
    PathTail dispatch = asked_;
    dispatch.extend(events.epoch_dispatch, Cause::startup);
    dispatches_.push_back(dispatch);
  }
  forget_before(dispatches_, dispatched_);
}

// A batch starts after the worker's previous batch. If the worker was idle, it starts after the
// take that made room.
void CriticalPathTracker::begin_batch(Worker& worker, Nanos begin) {
  const bool starts_up = worker.epoch != epoch_;
  worker.epoch = epoch_;
  const PathTail* room = last_until(dispatches_, dispatched_);
  if (room != nullptr && (!worker.chain.known() || room->end > worker.chain.end))
    worker.chain = *room;
  worker.chain.extend(begin, starts_up ? Cause::startup : Cause::other);
}

void CriticalPathTracker::made(std::int32_t index, std::span<const Span> spans) {
  if (spans.empty()) return;
  Worker& worker = this->worker(index);
  begin_batch(worker, spans.front().begin);
  for (const Span& span : spans) {
    worker.chain.extend(span.begin, Cause::other);
    worker.chain.extend(span.end, stage_cause(span.stage), span.queued);
  }
}

// Follows the batch from the worker to the queue that the trainer takes from.
PathTail CriticalPathTracker::hand_over(const StepEvents& events, Cause maker) {
  Worker& worker = this->worker(events.worker);
  if (!worker.chain.known() || worker.chain.end < dispatched_) begin_batch(worker, events.begun);
  PathTail way = worker.chain;
  way.extend(events.finished, Cause::other);
  if (events.send.ran()) {
    way = latest({&way, &worker.feeder}, events.send.begin);
    way.extend(events.send.begin - events.kept_from_sending, Cause::transport);
    way.extend(events.send.begin, maker);
    way.extend(events.send.end, Cause::transport, events.send.queued);
    worker.feeder = way;
  }
  if (events.pin.ran()) {
    const Nanos begin = events.receive.ran() ? events.receive.begin : events.pin.begin;
    way = latest({&way, &pin_thread_}, begin);
    way.extend(begin, Cause::pin);
    way.extend(events.receive.ran() ? events.receive.begin + events.answering : begin, maker);
    if (events.receive.ran())
      way.extend(events.receive.end, Cause::transport, events.receive.queued);
    way.extend(events.pin.end, Cause::pin, events.pin.queued);
    pin_thread_ = way;
  }
  if (events.has_device_thread()) {
    way.extend(events.handed, Cause::transport);
    way = make_on_device(events, way);
  }
  way.extend(events.deliverable, Cause::transport);
  return way;
}

// Follows the device thread, which submits the tasks of a batch, and the tasks on the device.
// Returns the path of the thread.
PathTail CriticalPathTracker::make_on_device(const StepEvents& events, const PathTail& handed) {
  const std::span<const DeviceWork> tasks = events.device_work();
  const Nanos first = tasks.front().submit.begin;
  PathTail thread = latest({&handed, &device_thread_, compute_before(first)}, first);
  std::array<PathTail, kMaxDeviceWork> submitted;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Cause cause = stage_cause(tasks[i].stage);
    thread.extend(tasks[i].submit.begin, cause);
    submitted.at(i) = thread;
    thread.extend(tasks[i].submit.end, cause, tasks[i].submit.queued);
  }
  device_thread_ = thread;

  std::array<std::size_t, kMaxDeviceWork> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto used = order.begin() + static_cast<std::ptrdiff_t>(tasks.size());
  std::stable_sort(order.begin(), used,
                   [&](std::size_t a, std::size_t b) { return tasks[a].at.end < tasks[b].at.end; });
  made_ = {};
  for (auto i = order.begin(); i != used; ++i) {
    const DeviceWork& task = tasks[*i];
    PathTail& lane = lanes_.at(index_of(task.lane));
    lane = latest({&submitted.at(*i), &made_, &lane}, task.at.begin);
    lane.extend(task.at.begin, stage_cause(task.stage));
    lane.extend(task.at.end, stage_cause(task.stage));
    made_ = lane;
  }
  return thread;
}

void CriticalPathTracker::get_ready(const StepEvents& events, Cause maker) {
  const PathTail batch = hand_over(events, maker);
  PathTail taken = batch.known() && batch.end > asked_.end ? batch : asked_;
  const bool trainer_receives = events.trainer_receives();
  if (trainer_receives && events.answering > 0) {
    taken.extend(std::min(events.receive.begin, events.take), Cause::transport);
    taken.extend(std::min(events.receive.begin + events.answering, events.take), maker);
  }
  const Nanos received_queued = trainer_receives ? events.receive.queued : 0;
  taken.extend(events.take, Cause::transport, received_queued + events.take_queued);
  if (!events.made_by_trainer) dispatches_.push_back(taken);
  trainer_ = taken;
  copy(events, taken);
  launch(events, taken);
  if (events.submitted_by_trainer) make_for_trainer(events);
  ready_ = latest({&trainer_, &copied_, &made_, compute_before(events.ready)}, events.ready);
  ready_.extend(events.ready, Cause::launch);
}

// Follows the tasks that the trainer submits itself, one after another.
void CriticalPathTracker::make_for_trainer(const StepEvents& events) {
  for (const DeviceWork& task : events.device_work()) {
    const Nanos begin = task.at.begin;
    made_ = latest({&trainer_, &copied_, &made_, compute_before(begin)}, begin);
    made_.extend(begin, Cause::launch);
    made_.extend(task.at.end, stage_cause(task.stage));
  }
}

void CriticalPathTracker::copy(const StepEvents& events, const PathTail& taken) {
  if (!events.copy.ran()) return;
  copied_ = latest({&taken, &copied_, compute_before(events.copy.begin)}, events.copy.begin);
  copied_.extend(events.copy.begin, Cause::launch);
  copied_.extend(events.copy.end, Cause::h2d, events.copy.queued);
}

void CriticalPathTracker::launch(const StepEvents& events, const PathTail& taken) {
  if (!events.launch.ran()) return;
  trainer_ = latest({&taken, &copied_}, events.launch.begin);
  trainer_.extend(events.launch.begin, Cause::launch);
  // The GPU starts to compute before the launch has ended, so the rest of the launch is not on the
  // path.
  trainer_.extend(std::min(events.launch.end, events.ready), Cause::launch, events.launch.queued);
}

void CriticalPathTracker::compute(const StepEvents& events, const PathTail* slowest) {
  last_compute_ = slowest != nullptr ? latest({&ready_, slowest}, events.compute.begin) : ready_;
  last_compute_.extend(events.compute.begin, Cause::launch);
  last_compute_.compute(events.compute.end);
  computes_.push_back(last_compute_);
}

// Paths to its begin and to its end may differ for the length of a pipeline before it.
CriticalPath CriticalPathTracker::window_path() const {
  CriticalPath path = last_compute_.path;
  path.compute = std::max<Nanos>(0, path.compute - before_window_.compute);
  for (std::size_t c = 0; c < kCauses; ++c)
    path.stall.at(c) = std::max<Nanos>(0, path.stall.at(c) - before_window_.stall.at(c));
  return path;
}

}  // namespace loaderscope
