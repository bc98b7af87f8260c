// Runs a job of one or more ranks: starts its threads, folds what they report, and decides when the
// window is over.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/native/trainer.h"
#include "engine/window_keeper.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "measure/process_counters.h"

namespace loaderscope::native {

// Thrown when no batch comes for --timeout. A thread is stuck, perhaps in the kernel: the runner
// must not be destroyed.
class NothingComes : public RunError {
 public:
  using RunError::RunError;
};

class JobRunner {
 public:
  JobRunner(const Plan& plan, const EngineContext& context, MakerFactory makers,
            bool writes_samples);
  ~JobRunner();

  void run();  // throws what a thread threw, or RunError when nothing comes any more
  bool interrupted() const { return interrupted_; }
  bool input_ended_in_warmup() const;
  std::vector<RankRecord> finish();
  std::int64_t lost_spans() const { return recorder_.lost(); }
  Bytes locked_bytes() const;
  std::vector<Metric> process_metrics() const;  // of the window of the first rank
  std::string memory_fallback() const;

 private:
  struct Rank {
    std::unique_ptr<Trainer> trainer;
    WindowKeeper window;
    std::deque<StepEvents> steps;  // known, not folded
    std::thread thread;
    bool first_asked = false;
    bool window_open = false;
    bool done = false;
    std::int64_t folded = 0;
    std::vector<QueueStats> queues;
  };

  void look();
  void fold_steps();
  void fold(std::int32_t index, const StepEvents& events);
  bool all_done();
  void end_rank(Rank& rank);
  void report_progress();
  void watch_for_silence();
  void stop_threads();

  const Plan& plan_;
  const EngineContext& context_;
  Recorder recorder_;
  Job job_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  ProcessCounters at_begin_, at_end_;
  MemoryWatch memory_;
  bool interrupted_ = false;
  std::int64_t samples_ = 0;
  Nanos last_step_at_ = 0;
  Nanos last_progress_ = 0;
};

}  // namespace loaderscope::native
