// Runs a job of one or more ranks: starts its threads, folds what they report, and decides when the
// window is over.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fifo.h"
#include "base/shared_memory.h"
#include "engine/native/sample_errors.h"
#include "engine/native/trainer.h"
#include "engine/pipeline/measurement_window.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "machine/machine_load.h"
#include "machine/process_counters.h"
#include "machine/standstill.h"
#include "nvtx/ranges.h"

namespace loaderscope::native {

// The activity of the run's processes, and of other programs, within the window of its first rank.
class ProcessWindow {
 public:
  // `processes`: the worker processes, at any time.
  explicit ProcessWindow(std::function<OtherProcesses()> processes)
      : processes_(std::move(processes)) {}

  void run_begins();
  // Marks a possible begin of the window, which is the end of the last warm-up step. A step is
  // known to be the last of the warm-up only when the next one ends. Call this after each step.
  void may_begin();
  void continue_warmup() { begin_known_ = false; }
  void begins();
  void look();  // now and then
  void ends(std::int64_t loader_threads);

  std::vector<Metric> metrics(const RankRecord& first) const;
  const std::vector<Detail>& other_programs() const { return other_programs_; }

 private:
  OtherPrograms other_programs_now() const;

  std::function<OtherProcesses()> processes_;
  ProcessCounters begin_, end_;
  bool begin_known_ = false;
  std::optional<OtherPrograms> programs_before_;  // the run began
  std::vector<Detail> other_programs_;            // covers the time until the window ended
  std::optional<StandstillWatch> standstills_;
  MemoryWatch memory_;
  std::int64_t loader_threads_ = 0;  // number at the end
};

class JobRunner {
 public:
  JobRunner(const LoaderPlan& plan, const RunContext& context, MakerFactory makers,
            SampleErrors& errors, bool writes_samples, SlotFiller fill_slot = {},
            SampleNames name_of_sample = {});
  ~JobRunner();

  // Throws what a thread threw, or RunError when nothing comes any more. Afterwards all threads
  // and worker processes have ended; where one has not (`stopped` is false: it hangs in the
  // kernel), the runner and all that it uses must stay until the process ends.
  void run();
  bool stopped() const { return stopped_; }  // all have ended
  bool interrupted() const { return interrupted_; }
  bool has_steps() const;
  bool input_ended_in_warmup() const;
  std::vector<RankRecord> finish();
  std::int64_t lost_spans() const { return recorder_.lost(); }
  Bytes locked_bytes() const;
  Nanos keeping_time() const;  // time of giving the devices the data set to keep
  // Covers the window of the first rank.
  std::vector<Metric> process_metrics(const RankRecord& first) const;
  std::vector<Detail> other_programs() const { return processes_.other_programs(); }
  std::string memory_fallback() const;
  std::string binding() const { return describe_binding(job_.binding); }  // "": nothing is bound
  DeviceFacts device_facts() const;                                       // facts of all ranks
  // Samples of each rank's streams in the first epoch; 0: the epoch has not ended.
  std::vector<std::int64_t> streamed_samples() const;

 private:
  struct Rank {
    Rank(std::int32_t number, std::unique_ptr<Trainer> rank_trainer,
         const MeasurementWindow& keeper)
        : index(number), trainer(std::move(rank_trainer)), window(keeper) {}

    const std::int32_t index;
    std::unique_ptr<Trainer> trainer;
    MeasurementWindow window;
    Fifo<StepEvents> steps;  // known, not folded
    std::thread thread;
    std::atomic<bool> thread_ended{false};
    bool input_over = false;
    bool window_open = false;
    bool done = false;
    std::int64_t folded = 0;
    std::vector<QueueStats> queues;
  };

  bool is_asked_to_stop() const;
  void run_window();
  void look();
  void format_window();
  void fold_steps();
  bool may_fold(const Rank& rank, std::int64_t step) const;
  void fold(std::int32_t index, const StepEvents& events);
  // True if another rank decides the rank's window.
  bool follows(const Rank& rank) const {
    return plan_.config.trainer.sync_ranks &&
           (context_.native.local_ranks.window || &rank != ranks_.front().get());
  }
  SharedWindow window_to_follow() const;
  void publish_window();
  bool all_done();
  bool others_have_ended() const;
  void end_rank(Rank& rank);
  Progress progress() const;
  void watch_for_silence();
  bool stop_all();  // asks all threads and worker processes to end, and waits a while
  bool trainers_ended() const;

  const LoaderPlan& plan_;
  const RunContext& context_;
  SampleErrors& errors_;
  const SampleNames name_of_sample_;
  std::unique_ptr<SharedMemory> shared_;  // set with worker processes
  std::pmr::memory_resource& memory_;     // memory that workers see
  ArenaPtr<std::atomic<int>> stop_;
  ArenaPtr<SampleErrors::Outbox> skipped_;  // set with worker processes
  Recorder recorder_;
  Job job_;
  RankShares shares_;
  std::unique_ptr<WorkerGroup> group_;  // created before the devices: it may fork
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  nvtx::Window shown_window_;                     // window of the first rank
  SharedWindow published_window_, asked_window_;  // to other processes, of another's
  ProcessWindow processes_;
  bool interrupted_ = false;
  bool stopped_ = false;
  std::int64_t samples_ = 0;
  Nanos last_step_at_ = 0;
  ProgressThrottle progress_beat_;
};

}  // namespace loaderscope::native
