// The window of one DataLoader. Folds its steps as they become known, and decides which are
// measured.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "engine/pipeline/measurement_window.h"
#include "guest/host/first_calls.h"
#include "guest/host/worker_turns.h"
#include "guest/protocol/loader_facts.h"
#include "record/recorder.h"
#include "record/running_account.h"

namespace loaderscope::guest {

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
  // Adds a step. Unknown parts count as 0 ns. `of_gpu`: the compute time comes from the GPU, not
  // from the host. `may_be_last`: false keeps the window open, however long it is.
  void step(StepEvents events, bool of_gpu, bool may_be_last = true);

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
