// One rank's part of the folder: what is still in flight, and what has been folded.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

#include "loaderscope/recorder.h"
#include "measure/sample_reservoir.h"
#include "measure/span_queue.h"

namespace loaderscope {

class RankFolder {
 public:
  RankFolder(const FoldOptions& options, std::int32_t rank);

  void first_ask(Nanos at);
  void span(std::int32_t worker, const Span& span);
  void deliverable(std::int64_t batch, Nanos at);

  // A step is folded in three moves, so that with a barrier all ranks can look at each other in between.
  void begin_step(const StepEvents& events);                // brings its times into order
  StepView view();                                          // of the step begun
  void end_step(const StepView& own, const StepView* straggler);  // books it, writes its row, forgets its spans

  const StepEvents& current() const { return current_; }
  RankRecord finish();
  std::int64_t spans_held() const;

 private:
  // Where on a worker's queue the spans of one batch lie.
  struct Segment {
    std::int32_t worker;
    std::int64_t begin, end;
  };
  struct BatchInFlight {
    std::vector<Segment> segments;
    bool delivered = false;
  };
  struct Ready {
    Nanos at;
    std::int64_t batch;
    bool operator>(const Ready& other) const {
      return at != other.at ? at > other.at : batch > other.batch;
    }
  };

  BatchInFlight* in_flight(std::int64_t batch);  // null when it is delivered
  bool is_delivered(std::int64_t batch) const;
  Nanos later_ready(std::int64_t batch);
  void count_stages(const std::vector<Segment>& segments, bool measured);
  void count_segment(const Segment& segment, PerStage<StageStats>& stages, bool measured);
  void count_events(PerStage<StageStats>& stages);
  void offer_samples(const Segment& segment);
  void keep_exemplar(const StepRow& row, const std::vector<Segment>& segments);
  Exemplar make_exemplar(const StepRow& row, const std::vector<Segment>& segments) const;
  void forget_delivered();
  void drop_old_spans(std::int32_t worker);
  void count_unbatched(const Span& span);

  FoldOptions options_;
  std::vector<SpanQueue> workers_;
  std::deque<BatchInFlight> batches_;  // from first_batch_ on
  std::int64_t first_batch_ = 0;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  StepEvents current_;
  Nanos current_clamped_ = 0;
  Nanos last_end_ = 0;  // end of the last compute, or the first ask

  bool window_open_ = false;
  PerStage<StageStats> warmup_stages_;
  std::int64_t warmup_samples_ = 0;
  Bytes warmup_read_ = 0, warmup_delivered_ = 0;
  SampleReservoir reservoir_;
  std::vector<Exemplar> worst_;  // a heap, the least stall in front
  Bytes exemplar_bytes_ = 0;
  RankRecord record_;
};

}  // namespace loaderscope
