// Ranges for external tools (Nsight Systems and other users of NVTX): the activity of each thread,
// with the batch, the sample and the bytes; queue depths; thread names. Without a tool, each use
// costs one predictable branch.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "loaderscope/rows.h"
#include "loaderscope/units.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope::nvtx {

struct TraceRow {
  Row row;
};
std::span<const TraceRow> trace_table();

// Looks for a tool, once per process. Call before the threads to observe are started.
void connect();

namespace detail {
inline std::atomic<bool> attached{false};
}
inline bool attached() { return detail::attached.load(std::memory_order_relaxed); }

// Activities besides the stages.
enum class Activity : std::uint8_t {
  wait_for_batch,
  submit_copy,
  submit_work,  // tasks of the device
  wait_copied,
  wait_computed,
  handled,  // a mark: how many bytes a stage turned out to handle
  window,   // the measured steps
};
inline constexpr std::size_t kActivities = 7;

// The registered name of a range or mark: a word of the stages, or of the activities.
class Label {
 public:
  Label(Stage stage) : index_(index_of(stage)) {}                     // NOLINT: reads like the word
  Label(Activity activity) : index_(kStages + index_of(activity)) {}  // NOLINT
  std::size_t index() const { return index_; }
  static constexpr std::size_t kCount = kStages + kActivities;

 private:
  std::size_t index_;
};
std::string name_of_label(std::size_t index);

// Values of a range. The tool receives their layout.
struct Payload {
  std::int64_t batch = -1;   // dispatch index within the rank; of the trainer's ranges the step
  std::int64_t sample = -1;  // index in the data set; -1: no single sample
  Bytes bytes = 0;           // bytes to handle; 0 if known only at the end
};

// Do nothing without a tool; from the calling thread.
void push(Label label, const Payload& payload);
void pop();
void mark(Label label, const Payload& payload);

// Shows `label` as the activity of the calling thread until destruction.
class Range {
 public:
  Range(Label label, const Payload& payload) : shown_(attached()) {
    if (shown_) [[unlikely]]
      push(label, payload);
  }
  ~Range() {
    if (shown_) [[unlikely]]
      pop();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  bool shown_;
};

// A number over time, such as the depth of a queue. Made after connect().
class Counter {
 public:
  Counter() = default;  // shows nothing
  explicit Counter(const std::string& name);
  void sample(std::int64_t value) const {
    if (known_) [[unlikely]]
      show(value);
  }

 private:
  void show(std::int64_t value) const;

  bool known_ = false;
  std::uint64_t id_ = 0;       // 0: the tool knows no counters, the values are marks
  void* mark_name_ = nullptr;  // the tool's handle
};

// The calling thread's name for this and all other tools: "worker 3", with `rank` >= 0
// "worker 3 rank 1".
void name_thread(const std::string& role, std::int32_t rank = -1);

// The measured window as tools see it: an NVTX range "window" of the process, and the profiler's
// start and stop on a GPU, so that a capture can be limited to it. Used from one thread. Begin and
// end count once; what has begun ends with the object.
class Window {
 public:
  Window() = default;
  ~Window() { end(); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  void begin();
  void end();

 private:
  enum class State : std::uint8_t { before, open, over } state_ = State::before;
  std::uint64_t range_ = 0;
};

}  // namespace loaderscope::nvtx
