// The steps of a loader, once all that belongs to them is known or will not come any more.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/thread_meter.h"
#include "guest/host/loader_history.h"

namespace loaderscope::guest {
namespace {

constexpr Nanos kAnswerTimeout = 2 * kSecond;  // timeout for facts of a delivered batch
constexpr Nanos kGpuPatience = 10 * kSecond;   // timeout for kernels; a step may have none
// Delay of GPU reports, which come every 100 ms. By then, kernels that another thread launched have
// been reported too.
constexpr Nanos kGpuReportDelay = 200 * kMillisecond;

// Adds a task that ran. The program's own thread submits it, which takes no known time.
void add_task(StepEvents& events, DeviceWork task) {
  if (!task.at.ran()) return;
  task.submit = {task.at.begin, task.at.begin, 0, 0};
  events.submitted_by_trainer = true;
  events.made.at(events.made_count++) = task;
}

}  // namespace

void LoaderHistory::advance(bool no_more) {
  if (no_more && open_) end_open_step();
  if (no_more) complete_on_device(computed_before_);
  fold_steps(no_more);
}

// The program has ended while it trained the last batch, or when it asked for another one.
void LoaderHistory::end_open_step() {
  const bool asked_again = asked_ > batches_known_[*open_].given;
  if (asked_again) close_step(asked_);
  open_.reset();
}

// Books the program's time in a step as compute, without its copies and its waits for other
// loaders.
void LoaderHistory::close_step(Nanos compute_end) {
  Batch& batch = batches_known_[*open_];
  StepEvents& events = batch.events;
  const Nanos moved = std::min(batch.given + batch.moved, compute_end);
  if (batch.moved > 0) events.copy = {batch.given, moved, 0, 0};
  const Nanos for_others = std::min(batch.for_others, compute_end - moved);
  const Nanos begin = moved + for_others;
  if (for_others > 0)
    events.launch = {begin - for_others - events.launch.wall(), begin, events.launch.cpu,
                     events.launch.queued};
  events.compute = {begin, compute_end, 0, 0};
  skipped_.done(compute_end - begin, compute_end);
  complete(*open_);
  open_.reset();
}

// The program may throw batches away, and not train yet: how long a window is given for that.
bool LoaderHistory::may_be_skipping() const {
  constexpr Nanos kMaxLength = 60 * kSecond;
  return optimizer_waits_ && !trained_ && skipped_.all_at_once() &&
         last_taken_ - first_ask_ < kMaxLength;
}

// Detects the discarded batches at the first optimizer step. Later calls do nothing.
void LoaderHistory::trained(const GuestEvent& fact) {
  if (std::exchange(trained_, true) || !open_) return;
  const ResumeSkipDetector::Skip skip = skipped_.before(fact.begin - batches_known_[*open_].given);
  if (skip.batches > 0) restart_window(skip);
}

void LoaderHistory::restart_window(const ResumeSkipDetector::Skip& skip) {
  thrown_away_.batches = skip.batches;
  thrown_away_.others = skip.until - first_ask_;
  RankRecord before = window_->finish();
  if (before.rows.size() > 0) {
    std::vector<StepRow> first(1);
    before.rows.read(0, first);
    thrown_away_.first = first.front().stall;
    for (const Nanos part : thrown_away_.first) thrown_away_.others -= part;
  }
  std::erase_if(complete_, [&](std::int64_t number) {
    return batches_known_[number].events.step < skip.batches;
  });
  // Some batches in progress have already reported a part of their facts to the previous window.
  const std::int64_t unfinished = batches_ - *open_;
  const std::int64_t trained_with = batches_known_[*open_].events.step - skip.batches;
  window_.emplace(given_, loader_, skip.batches, trained_with + unfinished);
  window_->first_ask(skip.until);
}

void LoaderHistory::complete(std::int64_t number) {
  Batch& batch = batches_known_[number];
  StepEvents& events = batch.events;
  events.ready = events.copy.ran() ? events.copy.end : batch.given;
  // The wrapper of the loader had the batch until then.
  if (events.launch.ran())
    events.ready = std::min(std::max(events.ready, events.launch.end), events.compute.begin);
  batch.complete_since = monotonic_now();
  complete_.push_back(number);
}

// A loader around the DataLoader may take several batches before it gives one, and give what is
// left when there is none to take. What is computed between two takes is one step, that of the
// batch taken last: for it the computing waited.
void LoaderHistory::take_device_fact(const GuestEvent& fact) {
  complete_on_device(fact.count);
  const auto found = on_device_.find(fact.count);
  if (found == on_device_.end()) return;
  StepEvents& events = batches_known_[found->second].events;
  Interval& whole = fact.kind == GuestEventKind::copied ? events.copy : events.compute;
  whole = {fact.begin - whole.wall(), fact.end, 0, 0};
  if (fact.kind == GuestEventKind::copied) return;
  if (events.copy.ran() && events.copy.end > whole.begin)
    events.copy = {whole.begin - events.copy.wall(), whole.begin, 0, 0};
  computed_before_ = fact.count + 1;
}

// Completes the steps before `before`, which compute nothing more.
void LoaderHistory::complete_on_device(std::int64_t before) {
  while (!on_device_.empty() && on_device_.begin()->first < before) {
    const std::int64_t number = on_device_.begin()->second;
    on_device_.erase(on_device_.begin());
    Batch& batch = batches_known_[number];
    StepEvents& events = batch.events;
    if (!events.compute.ran()) {
      const Nanos at = std::max(batch.given + batch.moved, device_end_);
      events.compute = {at, at, 0, 0};
    }
    if (batch.moved > 0 && !events.copy.ran())
      events.copy = {batch.given, std::min(batch.given + batch.moved, events.compute.begin), 0, 0};
    device_end_ = events.compute.end;
    complete(number);
  }
}

bool LoaderHistory::all_known(const Batch& batch) const {
  if (!batch.begun || !batch.finished) return false;
  if (batch.events.made_by_trainer) return true;
  return batch.sent && batch.received && (!batch.pins || batch.deliverable);
}

bool LoaderHistory::gpu_known(const Batch& batch) const {
  if (!gpu_ || !trains_itself() || window_->ended()) return true;
  if (batch.next_take == 0 || monotonic_now() - batch.next_take < kGpuReportDelay) return false;
  return gpu_is_over_ || gpu_->known_until() >= batch.next_take ||
         monotonic_now() - batch.complete_since > kGpuPatience;
}

// Kernels run when the host has long gone on: what the GPU did until the next batch was taken is
// the step's.
void LoaderHistory::put_gpu_view(Batch& batch) {
  if (!gpu_ || !trains_itself()) return;
  StepEvents& events = batch.events;
  const Nanos end = batch.next_take != 0 ? batch.next_take : kNever;
  const std::optional<GpuTimeline::Work> work = gpu_->take(batch.given, end);
  if (!work) return;
  events.copy = work->copy;
  events.compute = work->compute;
  events.ready = events.compute.begin;
  events.hidden_production = work->hidden;
  add_task(events, {Stage::gpu_decode, Lane::decode, {}, work->decode});
  add_task(events, {Stage::gpu_augment, Lane::work, {}, work->augment});
  batch.gpu = true;
}

void LoaderHistory::fold_steps(bool no_more) {
  while (!complete_.empty()) {
    const auto found = batches_known_.find(complete_.front());
    if (found == batches_known_.end()) {
      complete_.pop_front();
      continue;
    }
    Batch& batch = found->second;
    const bool waited = monotonic_now() - batch.complete_since > kAnswerTimeout;
    if (!no_more && ((!all_known(batch) && !waited) || !gpu_known(batch))) return;
    remember_size(batch);
    put_gpu_view(batch);
    window_->step(batch.events, batch.gpu, !may_be_skipping());
    batches_known_.erase(found);
    complete_.pop_front();
  }
}

// Returns the size of a batch whose maker could not report it: the mean of the others.
LoaderHistory::Size LoaderHistory::usual_size() const {
  const auto known = static_cast<double>(std::max<std::int64_t>(sized_, 1));
  const double samples =
      loader_.batch_size > 0 ? static_cast<double>(loader_.batch_size) : sized_samples_ / known;
  const double sample_bytes = sized_samples_ > 0 ? sized_bytes_ / sized_samples_ : 0;
  return {static_cast<std::int32_t>(std::llround(samples)), std::llround(samples * sample_bytes)};
}

void LoaderHistory::remember_size(Batch& batch) {
  constexpr std::size_t kMax = 64;  // more are never kept
  StepEvents& events = batch.events;
  if (!batch.finished) {
    events.samples = usual_size().samples;
    events.delivered_bytes = usual_size().bytes;
  }
  const auto index = static_cast<std::size_t>(std::max<std::int64_t>(batch.replays, 0));
  if (batch.replays < 0) {
    sized_ += batch.finished;
    sized_samples_ += batch.finished ? events.samples : 0;
    sized_bytes_ += batch.finished ? static_cast<double>(events.delivered_bytes) : 0;
    if (first_sizes_.size() < kMax)
      first_sizes_.push_back({events.samples, events.delivered_bytes});
  } else if (index < first_sizes_.size()) {
    events.samples = first_sizes_[index].samples;
    events.delivered_bytes = first_sizes_[index].bytes;
  }
}

RankRecord LoaderHistory::finish() {
  advance(true);
  return window_->finish();
}

// Facts about making a batch and sending it to the trainer.

namespace {

// Batches under way, far more than any loader has.
constexpr std::size_t kMaxUnderWay = std::size_t{1} << 16;

// Time in which an idle worker's thread responds. It covers two wake-ups.
constexpr Nanos kAtOnce = 300 * kMicrosecond;

}  // namespace

void LoaderHistory::dispatched(const GuestEvent& fact, std::int64_t batch, Epoch& epoch) {
  if (epoch.dispatch == 0) epoch.dispatch = fact.begin;
  StepEvents& events = known(batch, epoch).events;
  events.dispatched = fact.begin;
  events.worker = fact.worker;
}

bool LoaderHistory::may_know(std::int64_t batch) const {
  return batches_known_.size() < kMaxUnderWay || batches_known_.contains(batch);
}

LoaderHistory::Batch& LoaderHistory::known(std::int64_t batch, const Epoch& epoch) {
  Batch& result = batches_known_[batch];
  result.epoch = &epoch;
  return result;
}

void LoaderHistory::apply_to_batch(const GuestEvent& fact, Batch& batch, std::int64_t number) {
  StepEvents& events = batch.events;
  const Interval interval = fact_interval(fact);
  switch (fact.kind) {
    case GuestEventKind::begun:
      batch.begun = true;
      events.begun = fact.end;
      events.worker = fact.worker;
      events.worker_idle = batch.epoch->trainer_makes ? 0 : fact.end - fact.begin;
      break;
    case GuestEventKind::finished:
      batch.finished = true;
      events.finished = fact.begin;
      events.samples = static_cast<std::int32_t>(std::max<std::int64_t>(fact.count, 0));
      events.delivered_bytes = fact.bytes;
      break;
    case GuestEventKind::sent:
      batch.sent = true;
      events.send = interval;
      events.kept_from_sending = kept_from_sending(fact, batch);
      if (!batch.pins) window_->deliverable(number, fact.end);
      break;
    case GuestEventKind::received:
      batch.received = true;
      ++answers_.batches;
      batch.pins = fact.count == 1;
      events.receive = interval;
      break;
    case GuestEventKind::answered:
      events.answering = answered(fact);
      break;
    case GuestEventKind::pinned:
      events.pin = interval;
      break;
    case GuestEventKind::deliverable:
      batch.deliverable = true;
      events.deliverable = fact.begin;
      window_->deliverable(number, fact.begin);
      break;
    default:
      break;
  }
}

// Returns how long the worker's other work kept its feeder from sending. A feeder of an idle worker
// starts at once.
Nanos LoaderHistory::kept_from_sending(const GuestEvent& sent, const Batch& batch) {
  if (!batch.finished) return 0;
  const Nanos waited = sent.begin - batch.events.finished - sent.queued;
  return waited > kAtOnce ? waited - kAtOnce : 0;
}

// Returns how long the worker delayed its answers. A worker that computes nothing answers at once.
Nanos LoaderHistory::answered(const GuestEvent& fact) {
  const Nanos waited = fact.end - fact.begin;
  const Nanos kept = waited > fact.count * kAtOnce ? waited - fact.count * kAtOnce : 0;
  answers_.descriptors += fact.count;
  answers_.waited += waited;
  answers_.kept += kept;
  return kept;
}

}  // namespace loaderscope::guest
