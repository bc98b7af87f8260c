// What the batches of one DataLoader went through, put together from what its processes report, and
// folded.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "guest/host/batch_numbers.h"
#include "guest/host/gpu_timeline.h"
#include "guest/host/loop_time.h"
#include "guest/host/resume_skip_detector.h"
#include "guest/host/send_stats.h"
#include "guest/host/window_recorder.h"
#include "guest/protocol/loader_facts.h"
#include "guest/protocol/page.h"
#include "record/config_facts.h"

namespace loaderscope::guest {

class LoaderHistory {
 public:
  // `given`: how long to measure. It outlives this.
  LoaderHistory(const RunConfig& given, const LoaderFacts& loader);

  // From now on the process tells what its GPU does.
  void watch_gpu() { gpu_.emplace(); }
  // It tells no more: steps of which nothing is known are as the host saw them.
  void watch_no_gpu() { gpu_is_over_ = true; }
  void gpu_did(const GpuRecord& record);
  // Facts and spans of this loader's iterators. False: what they need has not come yet. `loader`:
  // as it was when the fact's iterator was made; a program may change its settings in between.
  bool take_fact(const GuestEvent& fact, const LoaderFacts& loader);
  bool take_span(std::int32_t worker, const Span& span);
  // The program waited for a batch of the loader of that number, which is another one: where that
  // was within a step of this one, the step did not compute meanwhile.
  void waited_for(std::int32_t other, const WaitForBatch& wait);
  // How long, by the number of the other loader.
  const std::map<std::int32_t, Nanos>& waited_for_others() const { return waited_for_others_; }
  // What the sampler took to choose the samples of a batch, on average.
  Nanos chosen_in() const { return chosen_ > 0 ? choosing_ / chosen_ : 0; }
  // What the loader is wrapped in took itself for a batch, on average.
  Nanos wrapped_in() const { return steps_ > 0 ? wrapped_ / steps_ : 0; }
  // Of the batches that were received: the descriptors of their memory, which their workers were
  // asked for, how long that was waited for, and of that how long the workers were busy.
  struct Answers {
    std::int64_t batches = 0, descriptors = 0;
    Nanos waited = 0, kept = 0;
  };
  const Answers& answers() const { return answers_; }
  const SendStats& send_stats() const { return send_stats_; }
  // Batches thrown away before the program began to train, which is when its window begins anew;
  // what its first batch took until then, and the others behind it.
  struct SkippedPrefix {
    std::int64_t batches = 0;  // 0: none
    PerCause<Nanos> first{};
    Nanos others = 0;
  };
  const SkippedPrefix& thrown_away() const { return thrown_away_; }
  // Of a device of ours: `count` is the step.
  void of_device(const GuestEvent& fact);
  // Folds the steps that are known. `no_more`: what is missing will not come.
  void advance(bool no_more);

  const LoaderFacts& loader() const { return loader_; }  // as it was last
  std::int64_t first_workers() const { return first_workers_; }
  const WindowRecorder& window() const { return *window_; }
  std::int64_t taken() const { return steps_; }  // batches, also outside the window
  // Batches that came behind another one of their epoch, and when the last did on a clock that
  // stands still between epochs.
  std::int64_t taken_within_epochs() const { return steps_ - epochs_taken_from_; }
  Nanos clock_within_epochs() const { return last_taken_ - between_epochs_; }
  Nanos first_ask() const { return first_ask_; }
  Nanos last_taken() const { return last_taken_; }  // when a batch was
  // What it is to the program: what of its time goes there, whether gradients were wanted of a
  // batch, and how often it was iterated.
  const LoopTime& time() const { return time_; }
  std::optional<WaitForBatch> take_wait() { return time_.take_wait(); }
  bool with_gradients() const { return with_gradients_; }
  std::int64_t iterations() const { return epoch_ + 1; }
  // What is known of the GPU; null where it is not watched.
  const GpuTimeline* gpu() const { return gpu_ ? &*gpu_ : nullptr; }
  RankRecord finish();

 private:
  using EpochName = std::pair<std::int32_t, std::int32_t>;  // iterator, generation
  // Several may be under way: a program may take a look at a batch of a second iterator.
  struct Epoch {
    BatchNumbers numbers;
    bool by_trainer = false;  // it has no workers
    Nanos begun = 0, dispatch = 0;
    // Until when the trainer's thread was busy with the workers: those of the epoch before that
    // ended, and those of this one that were started.
    Nanos busy_since = 0;
    std::int32_t taken_in = 0;  // how many epochs had begun when a batch of it was taken last
    bool fresh = true;          // none has been
  };
  struct Batch {
    StepEvents events;
    const Epoch* epoch = nullptr;
    bool begun = false, finished = false, sent = false, received = false, pins = false,
         deliverable = false;
    std::int64_t replays = -1;  // the step whose batch it is again
    Nanos moved = 0;            // by the program to a device, all copies together
    Nanos for_others = 0;       // that its step waited for other loaders
    Nanos given = 0;            // to the program
    Nanos next_take = 0;        // likewise the next one; 0: not yet
    bool gpu = false;           // copy and compute are its own times
    Nanos complete_since = 0;   // all of its compute is known
  };
  struct Size {
    std::int32_t samples = 0;
    Bytes bytes = 0;
  };

  bool trains_itself() const { return loaderscope::trains_itself(given_); }
  static Interval interval_of(const GuestEvent& fact);
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
  void begin_window_anew(const ResumeSkipDetector::Skip& skip);
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
  void of_batch(const GuestEvent& fact, Batch& batch, std::int64_t number);
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
  std::map<std::int32_t, Span> starts_;  // of workers that have not come up yet
  std::int64_t batches_ = 0;             // that have a number
  std::map<std::int64_t, Batch> batches_known_;
  std::map<std::int64_t, std::int64_t> on_device_;  // steps of a device of ours: their batches
  Nanos device_end_ = 0;                            // of the last of them that is complete
  std::int64_t computed_before_ = 0;                // the number of the first that is not known
  std::deque<std::int64_t> complete_;               // steps whose compute is known, in order
  std::vector<Size> first_sizes_;  // of the first batches taken, which may be replayed
  std::int64_t sized_ = 0;         // batches whose makers have said how large they are
  double sized_samples_ = 0, sized_bytes_ = 0;
  std::int64_t replays_ = 0;
  std::optional<std::int64_t> open_;        // the batch that the trainer has
  std::optional<std::int64_t> taken_last_;  // before the one that it takes
  std::optional<GpuTimeline> gpu_;
  bool gpu_is_over_ = false;
  std::optional<Nanos> stopped_for_;  // its epoch is over: how long the iterator took to end
  LoopTime time_;
  std::map<std::int32_t, Nanos> waited_for_others_;
  Nanos asked_ = 0, first_ask_ = 0, last_taken_ = 0;
  Interval choice_;  // of the sampler, its last
  Nanos choosing_ = 0, wrapped_ = 0;
  Answers answers_;
  SendStats send_stats_;
  ResumeSkipDetector skipped_;
  SkippedPrefix thrown_away_;
  bool optimizer_waits_ = false;  // there is one, that has made no step
  bool trained_ = false;
  std::int64_t chosen_ = 0;
  Nanos between_epochs_ = 0;
  std::int64_t epochs_taken_from_ = 0;
  bool with_gradients_ = false;
  std::int32_t epoch_ = -1;  // that has begun last
  std::int64_t steps_ = 0;
};

}  // namespace loaderscope::guest
