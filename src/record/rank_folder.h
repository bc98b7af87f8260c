// One rank's part of the folder: what is still in flight, and what has been folded.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "record/by_worker.h"
#include "record/exemplar_keeper.h"
#include "record/parts_in_flight.h"
#include "record/path_walker.h"
#include "record/recorder.h"
#include "record/sample_draw.h"
#include "record/span_queue.h"
#include "record/stage_totals.h"

namespace loaderscope {

class RankFolder {
 public:
  RankFolder(const FoldOptions& options, std::int32_t rank);

  void first_ask(Nanos at);
  void span(std::int32_t index, const Span& span);  // of that worker
  void deliverable(std::int64_t batch, Nanos at);

  // A step is folded in four moves, so that with a barrier all ranks can look at each other in
  // between.
  Nanos put_in_order(StepEvents& next) const;  // what its times were moved by
  void begin_step(const StepEvents& events, Nanos moved_before = 0);
  StepView view();  // of the step begun
  // Books it, writes the row that it returns, forgets its spans. `slowest`: the rank that
  // `straggler` is a view of.
  StepRow end_step(const StepView& own, const StepView* straggler = nullptr,
                   const RankFolder* slowest = nullptr);

  void close() { closed_ = true; }  // nothing is kept any more

  const PathChain& path_to_ready() const { return path_.ready(); }
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

  SpanQueue& timeline(std::int32_t worker) { return of_worker(timelines_, worker); }
  Cause chief_maker() const;
  Nanos later_ready(std::int64_t batch);
  void open_window(const StepRow& first);
  void count_step();
  void drop_old_spans(std::int32_t worker);
  void count_unbatched(const Span& span);
  void put_totals(const StageTotals& totals);

  FoldOptions options_;
  std::vector<SpanQueue> timelines_;  // by worker: what a step may still wait for
  PartsInFlight parts_;
  PathWalker path_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  StepEvents current_;
  Cause maker_ = Cause::transport;  // of its batch
  Nanos current_clamped_ = 0;
  Nanos last_end_ = 0;  // end of the last compute, or the first ask

  bool window_open_ = false;
  bool closed_ = false;
  StageTotals warmup_, window_;
  SampleDraw draw_;
  ExemplarKeeper exemplars_;
  RankRecord record_;
};

}  // namespace loaderscope
