// One rank's part of the folder: what is still in flight, and what has been folded.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "record/by_worker.h"
#include "record/path_walker.h"
#include "record/recorder.h"
#include "record/sample_reservoir.h"
#include "record/span_queue.h"

namespace loaderscope {

class RankFolder {
 public:
  RankFolder(const FoldOptions& options, std::int32_t rank);

  void first_ask(Nanos at);
  void span(std::int32_t index, const Span& span);  // of that worker
  void deliverable(std::int64_t batch, Nanos at);

  // A step is folded in three moves, so that with a barrier all ranks can look at each other in
  // between.
  void begin_step(const StepEvents& events);  // brings its times into order
  StepView view();                            // of the step begun
  // Books it, writes the row that it returns, forgets its spans. `slowest`: the rank that
  // `straggler` is a view of.
  StepRow end_step(const StepView& own, const StepView* straggler = nullptr,
                   const RankFolder* slowest = nullptr);

  void close() { closed_ = true; }  // nothing is kept any more

  const StepEvents& current() const { return current_; }
  const PathChain& path_to_ready() const { return path_.ready(); }
  RankRecord finish();
  std::int64_t spans_held() const;

 private:
  // The spans of one worker on one batch that is not delivered.
  using Part = std::vector<Span>;
  struct Worker {
    SpanQueue timeline;  // what a step may still wait for
    std::int64_t batch = -1;
    Part* part = nullptr;  // of `batch`
  };
  struct Ready {
    Nanos at;
    std::int64_t batch;
    bool operator>(const Ready& other) const {
      return at != other.at ? at > other.at : batch > other.batch;
    }
  };

  using InFlight = std::map<std::pair<std::int64_t, std::int32_t>, Part>;  // by batch and worker
  using Parts = std::vector<InFlight::node_type>;                          // of one batch

  Worker& worker(std::int32_t number) { return of_worker(workers_, number); }
  Part& part_of(std::int32_t worker, std::int64_t batch);
  Part& add_part(const InFlight::key_type& key);
  void take_parts(std::int64_t batch);
  void follow_path();
  Cause maker() const;
  void give_back_parts();
  Nanos later_ready(std::int64_t batch);
  void count_stages();
  static void count_spans(const Part& part, PerStage<StageStats>& stages);
  void offer_samples(std::int32_t worker, const Part& part);
  void offer_batch();
  void count_events(PerStage<StageStats>& stages);
  void keep_exemplar(const StepRow& row);
  Exemplar make_exemplar(const StepRow& row) const;
  void drop_old_spans(std::int32_t index);
  void count_unbatched(const Span& span);

  FoldOptions options_;
  std::vector<Worker> workers_;
  InFlight in_flight_;
  PathWalker path_;
  Parts parts_;  // of the current step's batch
  Parts spare_;  // empty ones, kept for their memory
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  StepEvents current_;
  Nanos current_clamped_ = 0;
  Nanos last_end_ = 0;  // end of the last compute, or the first ask

  bool window_open_ = false;
  bool closed_ = false;
  PerStage<StageStats> warmup_stages_;
  std::int64_t warmup_samples_ = 0;
  Bytes warmup_read_ = 0, warmup_delivered_ = 0;
  WorkCounts warmup_work_;
  SampleReservoir reservoir_;
  SampleReservoir batches_;      // in which no sample was told apart
  std::int64_t told_apart_ = 0;  // batches in which they were
  std::vector<Exemplar> worst_;  // a heap, the least stall in front
  Bytes exemplar_bytes_ = 0;
  RankRecord record_;
};

}  // namespace loaderscope
