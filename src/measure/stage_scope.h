// StageScope: while it lives, the calling thread works on a stage. One type times it, names it and
// writes it down.
#pragma once

#include <array>
#include <cstddef>

#include "loaderscope/recorder.h"
#include "measure/core_stay.h"
#include "measure/thread_meter.h"

namespace loaderscope {

// The spans of one worker thread, on their way to its log. The run-queue delay is read once per
// sample and spread over that sample's CPU spans in proportion to the time they were not on a CPU.
class SpanWriter {
 public:
  // `log` may be null: then nothing is measured.
  explicit SpanWriter(ThreadLog* log) : log_(log) {}

  bool measures() const { return log_ != nullptr; }
  bool knows_contention() const { return run_queue_.known(); }
  void begin_batch(std::int64_t batch) { batch_ = batch; }
  void begin_sample(std::int64_t sample) { sample_ = sample; }
  void end_sample();  // also after the last stage that handles the batch

  // A stretch without CPU use of its own: start-up by the clock, rest. What the thread waited for a
  // core at its end is part of it.
  void write(Stage stage, Nanos begin, Nanos end);

 private:
  friend class StageScope;
  struct Open {
    Span span;
    bool may_wait_for_cpu;
  };
  // CPU time of the thread at `now`. Reading it costs a system call, which is saved while the
  // thread has kept its core since the last reading.
  Nanos cpu_at(Nanos now) {
    const Nanos since = now - last_read_;
    if (CoreStay::known() ? since < kTrusted && CoreStay::unbroken() : since < kRightAfter)
      return last_cpu_ + since;
    return read_cpu();
  }
  Nanos read_cpu();
  Nanos take_delay();
  void add(const Span& span, bool may_wait_for_cpu);

  static constexpr Nanos kTrusted = kMillisecond;  // what a hypervisor stole is not CPU time
  static constexpr Nanos kLongAgo = -kSecond;
  static constexpr Nanos kRightAfter = 5 * kMicrosecond;

  ThreadLog* log_;
  RunQueueMeter run_queue_;
  std::int64_t batch_ = -1;
  std::int64_t sample_ = -1;
  Nanos last_read_ = kLongAgo, last_cpu_ = 0;  // of the thread's CPU clock
  bool off_core_ = true;                       // since the run-queue delay was read
  std::array<Open, 16> open_{};
  std::size_t open_count_ = 0;
};

class StageScope {
 public:
  enum class Kind : std::uint8_t {
    runs,   // waiting for a CPU is contention
    waits,  // a declared sleep or I/O: time off the CPU is the stage's own
  };
  StageScope(SpanWriter& writer, Stage stage, Kind kind) : writer_(writer), kind_(kind) {
    if (!writer.measures()) return;
    span_.stage = stage;
    span_.begin = monotonic_now();
    span_.cpu = writer_.cpu_at(span_.begin);
  }
  ~StageScope() {
    if (!writer_.measures()) return;
    span_.end = monotonic_now();
    span_.cpu = writer_.cpu_at(span_.end) - span_.cpu;
    writer_.add(span_, kind_ == Kind::runs);
  }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

  void handled(Bytes bytes) { span_.bytes = bytes; }

 private:
  SpanWriter& writer_;
  Kind kind_;
  Span span_;
};

}  // namespace loaderscope
