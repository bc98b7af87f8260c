// Part of the folder for one rank: spans in flight, and folded rows.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/fifo.h"
#include "loaderscope/run_record.h"
#include "record/book_step.h"
#include "record/critical_path_tracker.h"
#include "record/kept_details.h"
#include "record/recorder.h"
#include "record/spans_in_flight.h"

namespace loaderscope {

// Totals of all stages over the steps of a window or of its warm-up.
struct StageTotals {
  PerStage<StageStats> stages;
  std::int64_t samples = 0;
  Bytes read_bytes = 0, delivered_bytes = 0;
  WorkCounts work;

  // Adds the spans of one worker on one batch. All pieces of a stage for one sample count as one
  // execution.
  void add_spans(const std::vector<Span>& part);
  // Adds the facts of the batch as a whole.
  void add_step(const StepEvents& events);
};

class RankFolder {
 public:
  RankFolder(const FoldOptions& options, std::int32_t rank);

  void first_ask(Nanos at);
  void span(std::int32_t index, const Span& span);  // `index`: number of the worker
  void deliverable(std::int64_t batch, Nanos at);

  // A step is folded in four calls, so that with a barrier all ranks can see each other between
  // them.
  Nanos put_in_order(StepEvents& next) const;  // returns the ns by which its times were moved
  // Starts a step. `events` must outlive the step; its times are put in order.
  void begin_step(StepEvents& events, Nanos moved_before = 0);
  // Returns the view of the current step. Writes the spans of its worker to `its_worker` if they
  // are needed.
  StepView view(std::vector<Span>& its_worker);
  // Books the step, writes its row, forgets its spans, and returns the row. `slowest`: the rank
  // that `straggler` shows.
  StepRow end_step(const StepView& own, const StepView* straggler = nullptr,
                   const RankFolder* slowest = nullptr);

  void close() { closed_ = true; }  // later events are dropped

  const PathTail& path_to_ready() const { return path_.ready(); }
  RankRecord finish();
  std::int64_t spans_held() const;

 private:
  struct Ready {
    Nanos at;
    std::int64_t batch;
    bool operator>(const Ready& other) const {
      return at != other.at ? at > other.at : batch > other.batch;
    }
  };

  struct Worker {
    Fifo<Span> rest{1};        // spans of batches not in flight that a step may still wait for
    Nanos first_end = kNever;  // end of its first span
  };

  // Appends the spans of the step.
  void put_timeline(const Worker& worker, std::vector<Span>& timeline) const;
  Cause chief_maker() const;
  Nanos later_ready(std::int64_t batch);
  Nanos shared_with_compute() const;
  void keep_device_times();
  Nanos lanes_rested() const;
  void open_window(const StepRow& first);
  void count_step();
  void keep_late(std::int32_t worker, const SpansInFlight::Part& part);
  void drop_old(Worker& worker);
  void count_unbatched(const Span& span);
  void put_totals(const StageTotals& totals);

  FoldOptions options_;
  std::vector<Worker> workers_;
  SpansInFlight parts_;
  CriticalPathTracker path_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  const StepEvents* current_ = nullptr;  // current step
  Cause maker_ = Cause::transport;       // main cause of the CPU time of its batch
  Nanos current_clamped_ = 0;
  Nanos last_end_ = 0;                     // end of the last compute, or the first ask
  std::array<Nanos, kLanes> lane_ends_{};  // end of the last task of each lane
  bool made_on_device_ = false;            // true once a step was made on the device
  Fifo<TimeRange> computes_{1};            // computes during which a later batch may be made

  bool window_open_ = false;
  bool closed_ = false;
  StageTotals warmup_, window_;
  SampleCollector draw_;
  ExemplarKeeper exemplars_;
  RankRecord record_;
};

}  // namespace loaderscope
