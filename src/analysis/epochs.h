// What an epoch of a run takes: its steps, and how it begins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "loaderscope/analysis.h"

namespace loaderscope {

// A count of a result's settings, which need not be sane: 1 to 2^24.
std::int64_t sane_count(std::int64_t count);

// Of one rank; 0: the data has no end.
std::int64_t steps_of_epoch(const RunConfig& config);

struct SeenEpochs;
// By the batches that were seen: a program may make them as it likes. 0: the data has no end, or
// nothing was seen.
double steps_of_epoch(const RunConfig& config, const SeenEpochs& seen);

// Of one rank, the mean of the whole epochs that it ran; 0: it ran none. Of data without a length
// only the run shows it.
std::int64_t steps_of_seen_epoch(const RankRecord& rank);

// Counts the epochs that begin in a window, by a rank's rows in their order. How the run itself
// began is its first batch.
class EpochBegins {
 public:
  void add(const StepRow& row, bool is_measured) {
    if (is_measured && last_ && row.epoch != *last_) ++count_;
    last_ = row.epoch;
  }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
  std::optional<std::int32_t> last_;
};

// What a window has seen of epochs; the mean over the ranks.
struct SeenEpochs {
  double steps = 0, samples_per_step = 0;  // samples: of all ranks
  double begun = 0;                        // epochs that began in it
  Nanos window = 0, waited = 0;            // waited: for their begin
  Nanos apart = 0;                         // of the window, what is no part of an epoch

  double step_ns() const;   // without the waits for an epoch's begin
  double start_ns() const;  // of one epoch; 0 where none began
};
// `begun`: of all ranks together.
SeenEpochs epochs_seen(const RunRecord& record, const Account& account, std::int64_t begun);
SeenEpochs epochs_seen(const RunRecord& record, const Account& account);  // counts them

// Of the run's own epoch, with its begin as far as it was seen; 0: not known.
double epoch_seconds(const RunConfig& config, const SeenEpochs& seen);

// What no step of a window within one epoch has shown: " and the start of its workers"; or "".
std::string unseen_of_epoch(const RunRecord& record, const Analysis& analysis);
bool restarts_workers(const RunConfig& config);  // at every epoch

}  // namespace loaderscope
