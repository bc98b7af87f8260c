// Samples of Python stacks: the state of the DataLoader in a training thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/import/import_engine.h"
#include "engine/import/traced_run.h"

namespace loaderscope::traces {

// State of a thread when it was sampled.
enum class Activity : std::uint8_t {
  own,        // outside of the DataLoader
  waiting,    // in the DataLoader's next, for its workers
  making,     // in next, which makes the batch itself: num_workers=0
  pinning,    // in next, which pins
  starting,   // in iter: workers, queues
  importing,  // modules
  unknown,    // no frame of Python's
};
inline constexpr std::size_t kActivities = 7;

// Properties of one sample that are counted.
struct SampleKind {
  Activity activity = Activity::unknown;
  bool is_of_worker = false;  // a worker of a DataLoader
  bool is_of_feeder = false;  // a thread of a queue's, which waits nearly always
  bool waits = false;         // the leaf is one of Python's own functions that wait
};

using FrameMarks = std::uint16_t;
// `file`: with its folders or without, as the sampler says it.
FrameMarks marks_of_frame(std::string_view function, std::string_view file);

// One sample, from the root of its stack to the leaf.
class SampledStack {
 public:
  void clear() { *this = {}; }
  void add(FrameMarks frame);

  SampleKind kind() const;
  bool is_of_main_thread() const;  // no thread was started for it

 private:
  Activity activity() const;

  FrameMarks all_ = 0, leaf_ = 0;
  bool makes_ = false, is_empty_ = true;
};

// A file's samples by thread. In bounded memory: throws RunError beyond that.
class SampleKeeper {
 public:
  explicit SampleKeeper(std::string path) : path_(std::move(path)) {}

  void add(const std::string& thread, const SampleKind& kind, Nanos length, std::int64_t samples);
  // Adds the activity of the thread that asks the DataLoader most often. `in_order`: the samples
  // came in the order in which they were taken. Throws RunError with the reason if no account is
  // possible.
  void finish(TracedRun& run, bool in_order) const;

 private:
  struct Piece {
    Activity activity{};
    Nanos length = 0;
    std::int64_t samples = 0;
  };
  struct Thread {
    std::vector<Piece> pieces;  // neighbours differ
    std::int64_t loader_samples = 0, worker_samples = 0, feeder_samples = 0;
    std::int64_t waiting_samples = 0;  // for workers, with a leaf that waits
  };
  const Thread& training_thread() const;
  bool records_waits(const Thread& thread, const SampledShares& shares) const;
  static std::pair<std::size_t, std::size_t> training_window(const Thread& thread, bool in_order);

  std::string path_;
  std::map<std::string, Thread> threads_;
  std::int64_t that_wait_ = 0, pieces_ = 0;
};

}  // namespace loaderscope::traces
