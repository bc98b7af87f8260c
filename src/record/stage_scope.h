// StageScope: marks that the calling thread works on a stage while the object lives. It times the
// stage, names it and records it.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/thread_meter.h"
#include "nvtx/ranges.h"
#include "record/recorder.h"

namespace loaderscope {

// Spans of one worker thread, on their way to its log. They follow each other without a gap: time
// between two spans belongs to the later one. The run-queue delay is read once per sample. It is
// spread over that sample's spans in proportion to their time off a CPU.
class SpanWriter {
 public:
  // `log` may be null: nothing is measured then.
  explicit SpanWriter(ThreadLog* log) : log_(log) {}

  bool measures() const { return log_ != nullptr; }
  const RunQueueMeter& run_queue() const { return run_queue_; }
  void begin_batch(std::int64_t batch) { batch_ = batch; }
  void begin_sample(std::int64_t sample) { sample_ = sample; }
  void end_sample();  // needed after the last stage of the batch too

  // Returns the last written span; null if it was passed on.
  const Span* last() const { return open_count_ > 0 ? &open_[open_count_ - 1].span : nullptr; }
  // Splits the last span. Other threads worked while this thread waited for them: `parts` are their
  // pieces of the span, in order and without overlap. This thread's CPU time stays with the rest.
  void split_last_span(const std::vector<Span>& parts);

  // Skips the time until the next span.
  void skip() { edge_ = Edge{}; }
  void started_by_parent(const Interval& parent_start);
  void start_up(Nanos begin, Nanos end);
  // Records a wait for work, which was there at `end`. The time after `end` was a wait for a core.
  void record_idle(Nanos begin, Nanos end);
  // Returns the end of the last span; 0 after skip(), and if nothing is measured.
  Nanos last_end() const { return edge_.at; }

  nvtx::Payload payload(Stage stage, Bytes bytes) const {
    return {batch_, is_per_sample(stage) ? sample_ : -1, bytes};
  }

 private:
  friend class StageScope;
  using Edge = CpuMeter::Reading;
  struct Open {
    Span span;
    Nanos may_queue;  // upper limit of its run-queue delay
  };
  void write(Stage stage, Nanos begin, Nanos end);
  // `may_queue`: upper limit of the run-queue delay; `own`: time off the CPU by intent.
  void add(const Span& span, Nanos may_queue, Nanos own);

  ThreadLog* log_;
  CpuMeter cpu_;
  RunQueueMeter run_queue_;
  std::int64_t batch_ = -1;
  std::int64_t sample_ = -1;
  Edge edge_;
  std::array<Open, 16> open_{};
  std::size_t open_count_ = 0;
};

class StageScope {
 public:
  enum class Kind : std::uint8_t {
    runs,   // waiting for a CPU is contention
    waits,  // a declared sleep: time off the CPU is the stage's own
  };
  // `bytes`: bytes to handle, if known beforehand.
  StageScope(SpanWriter& writer, Stage stage, Kind kind, Bytes bytes = 0)
      : writer_(writer), kind_(kind), shown_(nvtx::attached()) {
    span_.stage = stage;
    span_.bytes = bytes;
    if (shown_) [[unlikely]]
      nvtx::push(stage, writer.payload(stage, bytes));
    if (writer.measures()) begin();
  }
  ~StageScope() {
    if (writer_.measures()) end();
    if (shown_) [[unlikely]]
      nvtx::pop();
  }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

  // Notes a declared sleep in a stage that otherwise runs. The time since `begin` is the stage's
  // own.
  void slept(Nanos begin) {
    if (writer_.measures()) slept_ += monotonic_now() - begin;
  }

  // Starts a part of the stage that needs a CPU, until leave(). All parts of this scope form one
  // span of their own, placed after the rest of the stage.
  void enter(Stage part) {
    part_.stage = part;
    if (shown_) [[unlikely]]
      nvtx::push(part, writer_.payload(part, 0));
    if (writer_.measures()) part_.entered = writer_.cpu_.read();
  }
  void leave() {
    if (shown_) [[unlikely]]
      nvtx::pop();
    if (!writer_.measures()) return;
    const SpanWriter::Edge now = writer_.cpu_.read();
    part_.wall += now.at - part_.entered.at;
    part_.cpu += now.cpu - part_.entered.cpu;
  }

  // Sets the number of bytes, if it is known only now.
  void handled(Bytes bytes) {
    span_.bytes = bytes;
    if (shown_) [[unlikely]]
      nvtx::mark(nvtx::Activity::handled, writer_.payload(span_.stage, bytes));
  }

 private:
  void begin() {
    if (writer_.edge_.at == 0 || kind_ == Kind::waits) {
      if (writer_.edge_.at == 0)
        writer_.run_queue_.read_if_it_left();  // drops the delay of untimed work
      const SpanWriter::Edge now = writer_.cpu_.read();
      if (writer_.edge_.at == 0) writer_.edge_ = now;
      before_ = now.at - writer_.edge_.at;
    }
    span_.begin = writer_.edge_.at;
    span_.cpu = writer_.edge_.cpu;
  }
  void end() {
    writer_.edge_ = writer_.cpu_.read();
    span_.end = writer_.edge_.at - part_.wall;
    span_.cpu = writer_.edge_.cpu - span_.cpu - part_.cpu;
    writer_.add(span_, kind_ == Kind::runs ? span_.end - span_.begin : before_, slept_);
    if (part_.wall > 0) [[unlikely]]
      add_part();
  }
  void add_part();

  struct Part {
    Stage stage = Stage::read;
    SpanWriter::Edge entered;
    Nanos wall = 0, cpu = 0;
  };

  SpanWriter& writer_;
  Kind kind_;
  bool shown_;  // true if a profiler shows the scope
  Span span_;
  Part part_;
  Nanos slept_ = 0;
  Nanos before_ = 0;  // wall time between the last span and this one
};

}  // namespace loaderscope
