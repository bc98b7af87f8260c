#include "guest/host/window_recorder.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace loaderscope::guest {
namespace {

std::int64_t count_makers(const LoaderFacts& loader) {
  return std::max<std::int64_t>(1, loader.seen_workers());
}

// A job may have 8 ranks of several loaders each, and what is kept of all of them is to stay below
// 256 MiB. What does not fit of the steps goes to a temporary file.
constexpr Bytes kStepRows = Bytes{4} << 20;
constexpr Bytes kExemplars = Bytes{4} << 20;
constexpr std::int64_t kSampleRows = 1 << 14;

FoldOptions fold_options(const RunConfig& given, const LoaderFacts& loader,
                         RunningAccountObserver& booked) {
  FoldOptions options;
  options.observer = &booked;
  options.workers = static_cast<std::int32_t>(count_makers(loader));
  options.in_order = loader.in_order || loader.seen_workers() == 0;
  options.step_row_memory = kStepRows;
  options.exemplar_memory = kExemplars;
  options.reservoir_rows = kSampleRows;
  options.seed = static_cast<std::uint64_t>(given.measure.seed.value);
  return options;
}

// Fills in unknown times, so that the part takes 0 ns.
void fill_gaps(StepEvents& events) {
  const Nanos take = events.take;
  if (events.finished == 0) events.finished = events.send.ran() ? events.send.begin : take;
  if (events.begun == 0) events.begun = events.finished;
  if (events.dispatched == 0) events.dispatched = events.begun;
  // The worker waited for the queue alone if its task was already there.
  if (events.dispatched <= events.begun - events.worker_idle) events.worker_idle = 0;
  if (events.deliverable == 0) {
    // A reader may have the bytes before the writer's call has returned.
    events.deliverable = take;
    if (events.send.ran()) events.deliverable = std::min(events.deliverable, events.send.end);
    if (events.receive.ran()) {
      events.deliverable =
          std::min(events.deliverable, std::max(events.receive.begin, events.finished));
    }
  }
  events.finished = std::min(events.finished, events.deliverable);
  events.deliverable = std::min(events.deliverable, take);
}

}  // namespace

WindowRecorder::WindowRecorder(const RunConfig& given, const LoaderFacts& loader,
                               std::int64_t first_step, std::int64_t incomplete)
    : booked_(std::make_unique<RunningAccountObserver>()),
      folder_(std::make_unique<Folder>(fold_options(given, loader, *booked_))),
      keeper_(given, loader.seen_workers()),
      first_step_(first_step),
      incomplete_(incomplete) {}

void WindowRecorder::first_ask(Nanos at) {
  keeper_.first_ask(at);
  folder_->first_ask(0, at);
}

// A worker of the epoch before may still end while its successor begins.
bool WindowRecorder::span(std::int32_t worker, Span span) {
  Nanos& last = span_end_[worker];
  span.begin = std::max(span.begin, last);
  if (span.end <= span.begin) return false;
  last = span.end;
  const Nanos length = span.end - span.begin;
  span.cpu = std::min(span.cpu, length);
  span.queued = std::min(span.queued, length - span.cpu);
  if (const std::optional<Span> start = first_calls_.take_start(worker, span))
    folder_->span(0, worker, *start);
  folder_->span(0, worker, span);
  return true;
}

void WindowRecorder::step(StepEvents events, bool has_gpu_time, bool may_be_last) {
  if (ended_) return;
  StepEvents known = events;
  fill_gaps(events);
  events.step -= first_step_;
  const std::int64_t complete = std::max<std::int64_t>(events.step - incomplete_, 0);
  events.warmup = keeper_.is_warmup(complete, events.compute.end);
  if (!open_) begin_ = events.compute.end;
  open_ |= !events.warmup;
  known.warmup = events.warmup;
  turns_.add(known);
  const Nanos length = events.compute.end - (folded_ > 0 ? end_ : events.ask);
  end_ = events.compute.end;
  folder_->step(0, events);
  ++folded_;
  if (!events.warmup) samples_ += events.samples;
  if (!events.warmup) time_of_steps_ += length;
  if (!events.warmup && has_gpu_time) {
    ++steps_of_gpu_;
    time_of_gpu_steps_ += length;
  }
  if (!keeper_.ended() || !may_be_last) return;
  ended_ = true;
  folder_->close(0);
}

RankRecord WindowRecorder::finish() { return std::move(folder_->finish().front()); }

void WorkerTurns::add(const StepEvents& events) {
  if (events.made_by_trainer || events.begun == 0 || events.finished == 0 || events.dispatched == 0)
    return;
  Last& entry = last_[events.worker];
  const Last before = std::exchange(entry, {events.epoch, events.finished});
  const bool is_first = before.epoch != events.epoch || before.finished > events.begun;
  const Nanos free = is_first ? events.begun - events.worker_idle : before.finished;
  if (events.warmup) return;
  ++batches_;
  time_ += std::max<Nanos>(events.begun - std::max(free, events.dispatched), 0);
}

void WorkerTurns::merge(const WorkerTurns& other) {
  batches_ += other.batches_;
  time_ += other.time_;
}

namespace {

constexpr Nanos kLong = 2 * kMillisecond;
constexpr std::int64_t kTimesLonger = 5;  // than the stage usually takes
constexpr std::int64_t kMinKnown = 16;    // calls, before it is known what is usual

bool is_of_making(const Span& span) {
  return span.batch >= 0 && span.stage != Stage::idle && !is_startup(span.stage);
}

}  // namespace

std::optional<Span> FirstCalls::take_start(std::int32_t worker, Span& span) {
  if (span.stage == Stage::startup) called_[worker] = {};
  if (!is_of_making(span)) return std::nullopt;
  const auto its_calls = called_.find(worker);  // calls of a process whose start was seen
  Usual& usual = usual_[span.stage];
  // Run-queue delay is not a property of first calls.
  const Nanos length = span.end - span.begin - span.queued;
  const bool is_first = its_calls != called_.end() && !its_calls->second[span.stage];
  if (!is_first) {
    ++usual.count;
    usual.wall += length;
    return std::nullopt;
  }
  its_calls->second[span.stage] = true;
  const Nanos excess = length - usual.mean();
  if (usual.count < kMinKnown || excess < kLong || length < kTimesLonger * usual.mean())
    return std::nullopt;
  const double part = static_cast<double>(excess) / static_cast<double>(length);
  Span start = span;
  start.stage = Stage::startup;
  start.bytes = 0;
  const auto wall = static_cast<double>(span.end - span.begin);
  start.end = span.begin + std::llround(part * wall);
  start.cpu = static_cast<Nanos>(part * static_cast<double>(span.cpu));
  start.queued = static_cast<Nanos>(part * static_cast<double>(span.queued));
  span.begin = start.end;
  span.cpu -= start.cpu;
  span.queued -= start.queued;
  return start;
}

}  // namespace loaderscope::guest
