// One process that trains, with its workers: puts together what they report, and folds it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/guest/loader_facts.h"
#include "engine/guest/page.h"
#include "engine/window_keeper.h"
#include "loaderscope/recorder.h"

namespace loaderscope::guest {

// Who writes a page.
struct Writer {
  std::int32_t worker = 0;
  std::int32_t iterator = -1;  // that a worker makes batches for; -1: it is the trainer
};

class Training {
 public:
  // `given`: how long to measure. It outlives this.
  explicit Training(const RunConfig& given) : given_(given) {}

  void add_iterator(std::int32_t number, const LoaderFacts& loader);
  // Takes what a process of this job has written so far.
  void read(Page& page, const Writer& writer);
  // Of a process that has ended and was read since: true when nothing of it is needed any more.
  bool let_go(const Page& page);
  // Folds the steps that are known. `no_more`: what is missing will not come.
  void advance(bool no_more);

  // The loader that is measured: the first one that has given a batch; null before that.
  const LoaderFacts* loader() const { return chosen_ ? &*chosen_ : nullptr; }
  bool window_begun() const { return window_open_; }
  bool window_ended() const { return ended_; }
  bool input_ended_in_warmup() const { return folded_ > 0 && !window_open_; }
  std::int64_t steps() const { return window_ ? window_->measured() : 0; }
  double fraction() const { return window_ ? window_->fraction() : 0; }
  std::int64_t samples() const { return samples_; }
  std::int64_t taken() const { return steps_; }  // batches, also outside the window
  Nanos window_length() const { return window_end_ - window_begin_; }
  Nanos first_ask() const { return first_ask_; }
  Nanos last_taken() const { return last_taken_; }      // when a batch was
  Nanos asking_since() const { return asking_since_; }  // for one that has not come; 0: is not
  RankRecord finish();

 private:
  using Epoch = std::pair<std::int32_t, std::int32_t>;  // iterator, generation
  struct Process {
    std::deque<Fact> facts;
    std::deque<Span> spans;
    Writer writer;
  };
  struct Batch {
    StepEvents events;
    bool begun = false, finished = false, sent = false, received = false, pins = false,
         deliverable = false;
    Nanos complete_since = 0;  // all of its compute is known
  };

  void note_asking(const Fact& fact);
  void choose_loader();
  bool knows(std::int32_t iterator) const { return loaders_.count(iterator) > 0; }
  bool is_chosen(std::int32_t iterator) const;
  // Between two batches the program trains; else a device of ours does.
  bool trains_itself() const { return given_.device.value == "script"; }
  void take_facts(Process& process);
  bool take_fact(const Fact& fact);
  void take_spans(Process& process);
  void take_span(std::int32_t worker, Span span);
  void begin_epoch(const Fact& fact);
  void forget_cut_short();
  void dispatched(const Fact& fact, std::int64_t batch);
  void taken(const Fact& fact, std::int64_t batch);
  void close_step(Nanos compute_end);
  void end_open_step();
  void of_device(const Fact& fact);
  void of_batch(const Fact& fact, std::int64_t batch);
  void deliverable(std::int64_t batch, Nanos at);
  bool all_known(const Batch& batch) const;
  void fold_steps(bool no_more);
  void fold(StepEvents events);

  const RunConfig& given_;
  RunConfig config_;                             // what the window is kept by
  std::map<std::int32_t, LoaderFacts> loaders_;  // by iterator
  std::map<const Page*, Process> processes_;
  std::optional<LoaderFacts> chosen_;
  std::unique_ptr<Folder> folder_;
  std::optional<WindowKeeper> window_;

  std::map<Epoch, std::int64_t> first_of_epoch_;  // the number of its batch 0
  std::int64_t batches_ = 0;                      // dispatched so far
  std::map<std::int64_t, Batch> batches_known_;
  std::map<std::int64_t, std::int64_t> on_device_;  // steps of a device of ours: their batches
  std::deque<std::int64_t> complete_;               // steps whose compute is known, in order
  std::optional<std::int64_t> open_;                // the batch that the trainer has
  std::optional<Nanos> stopped_for_;  // its epoch is over: how long the iterator took to end
  Nanos asked_ = 0, epoch_begun_ = 0, epoch_dispatch_ = 0, first_ask_ = 0, last_taken_ = 0,
        asking_since_ = 0;
  bool epoch_fresh_ = false;  // no batch of it has been taken
  std::int32_t epoch_ = -1;
  std::int64_t steps_ = 0, folded_ = 0, samples_ = 0;
  std::map<std::int32_t, Nanos> span_end_;  // by worker
  bool window_open_ = false, ended_ = false;
  Nanos window_begin_ = 0, window_end_ = 0;
};

}  // namespace loaderscope::guest
