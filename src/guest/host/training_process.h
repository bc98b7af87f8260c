// One process that trains, with its workers: hands what they report to the DataLoader that it is
// about, and says which of its DataLoaders is the one to measure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "guest/host/iterator_loaders.h"
#include "guest/host/loader_history.h"
#include "hang/progress_tracker.h"

namespace loaderscope::guest {

// Who writes a page.
struct Writer {
  std::int32_t worker = 0;
  std::int32_t iterator = -1;  // that a worker makes batches for; -1: it is the trainer
};

class TrainingProcess {
 public:
  // `given`: how long to measure. It outlives this.
  explicit TrainingProcess(const RunConfig& given) : given_(given) {}

  void add_iterator(std::int32_t number, const LoaderFacts& loader) {
    loaders_.add(number, loader);
  }
  // From now on the process tells what its GPU does.
  void watch_gpu();
  void watch_no_gpu();  // it tells no more
  // Takes what a process of this job has written so far. False: no process of ours can have written
  // that, and what is behind it is not taken.
  bool read(Page& page, const Writer& writer);
  // Of a process that has ended and was read since: true when nothing of it is needed any more.
  bool let_go(const Page& page);
  // Folds the steps that are known. `no_more`: what is missing will not come.
  void advance(bool no_more);

  // The loader that the program trains with; null before any has given a batch. A validation may
  // come first: one whose batches are taken with gradients goes before one without, then the one
  // that the program has spent far more time with, then the one that it has waited far longer for,
  // then the first.
  LoaderHistory* measured();
  const LoaderHistory* measured() const;
  // Those that have given a batch, in the order in which they were iterated first.
  std::vector<const LoaderHistory*> used() const;
  // The number of the loader that `iterator` belongs to; -1: not known.
  std::int32_t loader_of(std::int32_t iterator) const;
  std::int64_t left_out() const { return left_out_; }  // facts and spans that led nowhere
  const hang::ProgressTracker& movement() const { return movement_; }
  // What the loader of `iterator` is; null: not known.
  const LoaderFacts* loader_with(std::int32_t iterator) const { return loaders_.of(iterator); }

 private:
  struct Process {
    explicit Process(Page& page) : rings(page) {}

    PageRings rings;
    std::deque<GuestEvent> facts;
    std::deque<Span> spans;
    Writer writer;
  };

  // A batch taken for a device of ours.
  struct Take {
    LoaderHistory* history;
    std::int64_t step;  // of that training
  };

  void take_gpu_records();
  void of_device(GuestEvent fact);
  template <class Report, class Taker>
  void take_in_order(std::deque<Report>& reports, const Taker& take);
  void take_facts(Process& process);
  bool take_fact(const GuestEvent& fact);
  void take_spans(Process& process);
  bool take_span(const Writer& writer, const Span& span);
  LoaderHistory* history_of(const LoaderFacts& loader);  // null: too many of them

  const RunConfig& given_;
  IteratorLoaders loaders_;
  std::map<std::int32_t, LoaderHistory> histories_;  // by the number of the loader
  std::map<const Page*, Process> processes_;
  std::deque<Take> takes_;  // whose compute is not known
  std::int64_t takes_before_ = 0;
  bool watches_gpu_ = false;
  std::vector<GpuRecord> gpu_records_;  // of the trainer's process, before a loader is known
  hang::ProgressTracker movement_;
  std::int64_t left_out_ = 0;
};

}  // namespace loaderscope::guest
