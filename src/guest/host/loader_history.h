// History of the batches of one DataLoader, assembled from the reports of its processes, and
// folded.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "guest/host/gpu_timeline.h"
#include "guest/host/loader_tallies.h"
#include "guest/host/window_recorder.h"
#include "guest/protocol/loader_facts.h"
#include "guest/protocol/page.h"
#include "record/config_facts.h"

namespace loaderscope::guest {

class LoaderHistory {
 public:
  // `given`: how long to measure. It outlives this.
  LoaderHistory(const RunConfig& given, const LoaderFacts& loader);

  // Starts to use the GPU activity that the process reports.
  void watch_gpu() { gpu_.emplace(); }
  // The process reports no more GPU activity. Unknown steps keep the times that the host saw.
  void watch_no_gpu() { gpu_is_over_ = true; }
  void gpu_did(const GpuRecord& record);
  // Take facts and spans of this loader's iterators. They return false if a needed fact has not
  // come yet. `loader` has the settings of the iterator's creation, which a program may change
  // later.
  bool take_fact(const GuestEvent& fact, const LoaderFacts& loader);
  bool take_span(std::int32_t worker, const Span& span);
  // Books a wait for a batch of another loader, numbered `other`. If the wait lies within a step of
  // this loader, the step did not compute during it.
  void waited_for(std::int32_t other, const WaitForBatch& wait);
  // Time waited for other loaders, by their number.
  const std::map<std::int32_t, Nanos>& waited_for_others() const { return waited_for_others_; }
  // Mean time in which the sampler chose the samples of a batch.
  Nanos mean_choosing() const { return chosen_ > 0 ? choosing_ / chosen_ : 0; }
  // Mean time per batch that the wrapper of the loader took itself.
  Nanos mean_wrapping() const { return steps_ > 0 ? wrapped_ / steps_ : 0; }
  // Requests for the shared memory of received batches. `descriptors` were requested from the
  // workers, `waited` is the time until they came, and `kept` is the part of it in which the
  // workers were busy.
  struct Answers {
    std::int64_t batches = 0, descriptors = 0;
    Nanos waited = 0, kept = 0;
  };
  const Answers& answers() const { return answers_; }
  const SendStats& send_stats() const { return send_stats_; }
  // Batches that the program discarded before it began to train. The window restarts then. `first`
  // and `others` are the times of the first discarded batch and of the batches after it.
  struct SkippedPrefix {
    std::int64_t batches = 0;  // 0: none
    PerCause<Nanos> first{};
    Nanos others = 0;
  };
  const SkippedPrefix& thrown_away() const { return thrown_away_; }
  // Takes a fact of a device of loaderscope. Its `count` is the step.
  void take_device_fact(const GuestEvent& fact);
  // Folds the known steps. `no_more`: missing facts will not come.
  void advance(bool no_more);

  const LoaderFacts& loader() const { return loader_; }  // the last known settings
  std::int64_t first_workers() const { return first_workers_; }
  const WindowRecorder& window() const { return *window_; }
  std::int64_t taken() const { return steps_; }  // batches, also outside the window
  // Batches without the first one of each epoch, and the time of the last one on a clock that
  // pauses between epochs.
  std::int64_t taken_within_epochs() const { return steps_ - epochs_taken_from_; }
  Nanos clock_within_epochs() const { return last_taken_ - between_epochs_; }
  Nanos first_ask() const { return first_ask_; }
  Nanos last_taken() const { return last_taken_; }  // time of the last batch taken
  // Role of the loader in the program: its share of the time, gradients enabled while a batch is
  // used, and the number of iterations.
  const LoopTime& time() const { return time_; }
  std::optional<WaitForBatch> take_wait() { return time_.take_wait(); }
  bool with_gradients() const { return with_gradients_; }
  std::int64_t iterations() const { return epoch_ + 1; }
  // Activity of the GPU; null if it is not watched.
  const GpuTimeline* gpu() const { return gpu_ ? &*gpu_ : nullptr; }
  RankRecord finish();

 private:
  using EpochName = std::pair<std::int32_t, std::int32_t>;  // iterator, generation
  // Several epochs may be in progress: a program may take one batch of a second iterator.
  struct Epoch {
    BatchNumbers numbers;
    bool trainer_makes = false;  // the loader has no workers
    Nanos begun = 0, dispatch = 0;
    // Start of the last period in which the trainer's thread handles workers: it ends those of the
    // epoch before, and starts those of this one.
    Nanos busy_since = 0;
    std::int32_t epoch_at_take =
        0;              // number of begun epochs when a batch of this one was last taken
    bool fresh = true;  // no batch was taken yet
  };
  struct Batch {
    StepEvents events;
    const Epoch* epoch = nullptr;
    bool begun = false, finished = false, sent = false, received = false, pins = false,
         deliverable = false;
    std::int64_t replays = -1;  // the step whose batch is used again; -1: none
    Nanos moved = 0;            // time of all copies to a device by the program
    Nanos for_others = 0;       // time that its step waited for other loaders
    Nanos given = 0;            // time when the program received it
    Nanos next_take = 0;        // time when the program received the next batch; 0: not yet
    bool gpu = false;           // copy and compute are the GPU's own times
    Nanos complete_since = 0;   // time when all of its compute was known
  };
  struct Size {
    std::int32_t samples = 0;
    Bytes bytes = 0;
  };

  bool trains_itself() const { return loaderscope::trains_itself(given_); }
  static Interval fact_interval(const GuestEvent& fact);
  void begin_epoch(const GuestEvent& fact, const LoaderFacts& loader);
  void forget_cut_short();
  void forget_long_over();
  void take_fact(const GuestEvent& fact, Epoch& epoch);
  void take_of_loader(const GuestEvent& fact, Epoch& epoch);
  void take_of_batch(const GuestEvent& fact, Epoch& epoch);
  void started(const GuestEvent& fact, Epoch& epoch);
  void dispatched(const GuestEvent& fact, std::int64_t batch, Epoch& epoch);
  void taken(const GuestEvent& fact, std::int64_t batch, Epoch& epoch);
  void replayed(const GuestEvent& fact, Epoch& epoch);
  void trained(const GuestEvent& fact);
  void restart_window(const ResumeSkipDetector::Skip& skip);
  bool may_be_skipping() const;
  void chosen(const GuestEvent& fact);
  void wrapped(Nanos length);
  Nanos answered(const GuestEvent& fact);
  static Nanos kept_from_sending(const GuestEvent& sent, const Batch& batch);
  void put_choice(StepEvents& events) const;
  void close_step(Nanos compute_end);
  void end_open_step();
  void complete(std::int64_t number);
  void complete_on_device(std::int64_t before);
  bool may_know(std::int64_t batch) const;
  Batch& known(std::int64_t batch, const Epoch& epoch);
  void apply_to_batch(const GuestEvent& fact, Batch& batch, std::int64_t number);
  void moved(std::int64_t batch, Nanos length);
  bool all_known(const Batch& batch) const;
  bool gpu_known(const Batch& batch) const;
  void put_gpu_view(Batch& batch);
  void fold_steps(bool no_more);
  void remember_size(Batch& batch);
  Size usual_size() const;

  const RunConfig& given_;
  LoaderFacts loader_;
  std::int64_t first_workers_;
  std::optional<WindowRecorder> window_;  // always there

  std::map<EpochName, Epoch> epochs_;
  std::map<std::int32_t, Span> starts_;  // startup of workers that have not finished it
  std::int64_t batches_ = 0;             // number of numbered batches
  std::map<std::int64_t, Batch> batches_known_;
  std::map<std::int64_t, std::int64_t> on_device_;  // batch of each step on a device of loaderscope
  Nanos device_end_ = 0;                            // end of the last complete step
  std::int64_t computed_before_ = 0;                // number of the first incomplete step
  std::deque<std::int64_t> complete_;               // steps whose compute is known, in order
  std::vector<Size> first_sizes_;  // sizes of the first batches taken, which may be replayed
  std::int64_t sized_ = 0;         // batches of known size
  double sized_samples_ = 0, sized_bytes_ = 0;
  std::int64_t replays_ = 0;
  std::optional<std::int64_t> open_;        // the batch that the trainer has
  std::optional<std::int64_t> taken_last_;  // the batch taken before the current one
  std::optional<GpuTimeline> gpu_;
  bool gpu_is_over_ = false;
  // time in which the iterator ended; set while its epoch is over
  std::optional<Nanos> stopped_for_;
  LoopTime time_;
  std::map<std::int32_t, Nanos> waited_for_others_;
  Nanos asked_ = 0, first_ask_ = 0, last_taken_ = 0;
  Interval choice_;  // the last choice of the sampler
  Nanos choosing_ = 0, wrapped_ = 0;
  Answers answers_;
  SendStats send_stats_;
  ResumeSkipDetector skipped_;
  SkippedPrefix thrown_away_;
  bool optimizer_waits_ = false;  // an optimizer exists and has made no step
  bool trained_ = false;
  std::int64_t chosen_ = 0;
  Nanos between_epochs_ = 0;
  std::int64_t epochs_taken_from_ = 0;
  bool with_gradients_ = false;
  std::int32_t epoch_ = -1;  // the last epoch that has begun
  std::int64_t steps_ = 0;
};

}  // namespace loaderscope::guest
