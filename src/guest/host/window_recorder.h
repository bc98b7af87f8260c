// The window of one DataLoader. Folds its steps as they become known, and decides which are
// measured.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "engine/pipeline/measurement_window.h"
#include "guest/protocol/loader_facts.h"
#include "loaderscope/events.h"
#include "loaderscope/run_record.h"
#include "record/recorder.h"
#include "record/running_account.h"

namespace loaderscope::guest {

// Time between two batches of a worker. The worker hands over the batch before, and gets the next
// task from its queue. It may also wait for Python's lock, which the sending thread can hold.
class WorkerTurns {
 public:
  // Call with every step in order. Adds the time from the later of two events until the batch
  // began. The events are the end of the worker's previous batch and the arrival of the task. Adds
  // nothing if a time is missing.
  void add(const StepEvents& events);
  void merge(const WorkerTurns& other);

  std::int64_t batches() const { return batches_; }
  Nanos time() const { return time_; }

 private:
  struct Last {
    std::int32_t epoch = -1;
    Nanos finished = 0;
  };

  std::map<std::int32_t, Last> last_;  // last batch of each worker
  std::int64_t batches_ = 0;
  Nanos time_ = 0;
};

// Extra time of the first call of a stage in a worker process, such as an import or opening a file.
// It belongs to the start of the worker.
class FirstCalls {
 public:
  // Call with every span of every worker in the order of time. If `span` is far longer than its
  // stage usually takes, cuts off its beginning and returns that part as a span of startup.
  std::optional<Span> take_start(std::int32_t worker, Span& span);

 private:
  struct Usual {
    std::int64_t count = 0;
    Nanos wall = 0;

    Nanos mean() const { return count > 0 ? wall / count : 0; }
  };

  PerStage<Usual> usual_{};                        // calls that were not the first ones
  std::map<std::int32_t, PerStage<bool>> called_;  // stages since the last start, by worker
};

class WindowRecorder {
 public:
  // `given`: the length to measure. It outlives this. `first_step`: the number of its first step.
  // The first `incomplete` steps may lack facts, and are warm-up.
  WindowRecorder(const RunConfig& given, const LoaderFacts& loader, std::int64_t first_step = 0,
                 std::int64_t incomplete = 0);

  void first_ask(Nanos at);
  void deliverable(std::int64_t batch, Nanos at) { folder_->deliverable(0, batch, at); }
  // Returns false if no part of the span counts, because it lies before the end of the worker's
  // last span.
  bool span(std::int32_t worker, Span span);
  // Adds a step. Unknown parts count as 0 ns. `has_gpu_time`: the compute time comes from the GPU,
  // not from the host. `may_be_last`: false keeps the window open, however long it is.
  void step(StepEvents events, bool has_gpu_time, bool may_be_last = true);

  // Returns true if the next step is measured, as far as known, or if one was measured.
  bool begun() const { return keeper_.measures(folded_ - incomplete_); }
  bool ended() const { return ended_; }
  bool is_open() const { return open_ && !ended_; }
  bool input_ended_in_warmup() const { return folded_ > 0 && !open_; }
  double fraction() const { return keeper_.fraction(); }
  Nanos length() const { return end_ - begin_; }
  Nanos end() const { return end_; }  // end of the last known step
  // Number of measured steps.
  std::int64_t steps() const { return keeper_.measured(); }
  std::int64_t samples() const { return samples_; }
  std::int64_t steps_of_gpu() const { return steps_of_gpu_; }
  Nanos time_of_steps() const { return time_of_steps_; }
  Nanos time_of_gpu_steps() const { return time_of_gpu_steps_; }

  // turns of the workers to the batches of its steps
  const WorkerTurns& turns() const { return turns_; }

  const RunningAccount& account() const { return booked_->account(); }

  RankRecord finish();

 private:
  std::unique_ptr<RunningAccountObserver> booked_;  // owned by the folder
  std::unique_ptr<Folder> folder_;
  FirstCalls first_calls_;
  MeasurementWindow keeper_;
  std::int64_t first_step_, incomplete_;
  std::map<std::int32_t, Nanos> span_end_;  // end of the last span of each worker
  std::int64_t folded_ = 0, samples_ = 0, steps_of_gpu_ = 0;
  bool open_ = false, ended_ = false;
  Nanos begin_ = 0, end_ = 0;
  Nanos time_of_steps_ = 0, time_of_gpu_steps_ = 0;
  WorkerTurns turns_;
};

}  // namespace loaderscope::guest
