// One process that trains, with its workers. Passes their reports to the DataLoader concerned, and
// selects the DataLoader to measure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "guest/host/loader_history.h"
#include "guest/protocol/loader_facts.h"
#include "guest/protocol/page.h"
#include "hang/progress_tracker.h"

namespace loaderscope::guest {

// Checks that the hooks can have written the contents of a page. The page is also memory of the
// user's program, which may overwrite it by mistake. Impossible values are rejected.

// `now`: events of the future are rejected. The sizes of a batch or a sample come from the
// program's own objects, which may report any number. They are clamped to their range.
bool is_possible(GuestEvent& fact, Nanos now);
bool is_possible(ThreadLog::Entry& entry, Nanos now);
bool is_possible(GpuRecord& record, Nanos now);

// Loader of each iterator of a process. A job makes millions of iterators, most of them of the same
// few loaders. Each run of iterators with the same facts is kept once.
class IteratorLoaders {
 public:
  // Adds facts in any order. The first facts of an iterator count.
  void add(std::int32_t iterator, const LoaderFacts& loader);
  // Returns null if the iterator is unknown.
  const LoaderFacts* find(std::int32_t iterator) const;
  // Returns true if the facts of the iterator were dropped to bound memory. The first iterators,
  // which may live long, and the last ones are kept.
  bool has_forgotten(std::int32_t iterator) const {
    return iterator < forgotten_before_ && find(iterator) == nullptr;
  }

 private:
  using Facts = std::shared_ptr<const LoaderFacts>;
  Facts shared(const LoaderFacts& loader);
  void put(std::int32_t iterator, const Facts& facts);
  void forget();

  std::map<std::int32_t, Facts> from_;  // facts until the next key; null: unknown
  std::int32_t end_ = 0;                // the first iterator after all known ones
  std::int32_t forgotten_before_ = 0;
  std::map<std::int32_t, Facts> last_facts_;  // last facts of each loader
};

// Process that writes a page.
struct Writer {
  std::int32_t worker = 0;
  std::int32_t iterator = -1;  // iterator that a worker makes batches for; -1: the trainer
};

class TrainingProcess {
 public:
  // `given`: how long to measure. It outlives this.
  explicit TrainingProcess(const RunConfig& given) : given_(given) {}

  void add_iterator(std::int32_t number, const LoaderFacts& loader) {
    loaders_.add(number, loader);
  }
  // Starts to use the GPU activity that the process reports.
  void watch_gpu();
  void watch_no_gpu();  // ends the use of GPU activity
  // Reads the new reports of a process of this job. Returns false at the first report that the
  // guest cannot have written. Later reports are not read.
  bool read(Page& page, const Writer& writer);
  // Returns true if no report of a process is needed any more. The process has ended and was read
  // since.
  bool release(const Page& page);
  // Folds the known steps. `no_more`: missing facts will not come.
  void advance(bool no_more);

  // Returns the loader that the program trains with, or null before a loader has delivered a batch.
  // A validation may come first, so loaders are ranked by:
  // 1. batches taken with gradients,
  // 2. far more time of the program,
  // 3. far more time waited for batches,
  // 4. the order of their first use.
  LoaderHistory* measured();
  const LoaderHistory* measured() const;
  // Loaders that have delivered a batch, in the order of their first iteration.
  std::vector<const LoaderHistory*> used() const;
  // Returns the number of the loader of `iterator`, or -1 if unknown.
  std::int32_t loader_number(std::int32_t iterator) const;
  std::int64_t left_out() const { return left_out_; }  // facts and spans that match no loader
  const hang::ProgressTracker& movement() const { return movement_; }
  // Returns the facts of the loader of `iterator`, or null if unknown.
  const LoaderFacts* loader_with(std::int32_t iterator) const { return loaders_.find(iterator); }

 private:
  struct Process {
    explicit Process(Page& page) : rings(page) {}

    PageRings rings;
    std::deque<GuestEvent> facts;
    std::deque<Span> spans;
    Writer writer;
  };

  // A batch taken for a device of loaderscope.
  struct Take {
    LoaderHistory* history;
    std::int64_t step;  // step of the history
  };

  void take_gpu_records();
  void take_device_fact(GuestEvent fact);
  template <class Report, class Taker>
  void take_in_order(std::deque<Report>& reports, const Taker& take);
  void take_facts(Process& process);
  bool take_fact(const GuestEvent& fact);
  void take_spans(Process& process);
  bool take_span(const Writer& writer, const Span& span);
  LoaderHistory* get_history(const LoaderFacts& loader);  // null: too many loaders

  const RunConfig& given_;
  IteratorLoaders loaders_;
  std::map<std::int32_t, LoaderHistory> histories_;  // histories by loader number
  std::map<const Page*, Process> processes_;
  std::deque<Take> takes_;  // takes with unknown compute
  std::int64_t takes_before_ = 0;
  bool watches_gpu_ = false;
  std::vector<GpuRecord> gpu_records_;  // records of the trainer's process before a loader is known
  hang::ProgressTracker movement_;
  std::int64_t left_out_ = 0;
};

}  // namespace loaderscope::guest
