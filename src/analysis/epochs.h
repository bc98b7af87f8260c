// Times of the epochs of a run: their steps and their start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "loaderscope/analysis.h"

namespace loaderscope {

// Clamps a count of a result's settings to 1 to 2^24, as a saved result may contain any number.
std::int64_t sane_count(std::int64_t count);

// Returns the steps per epoch of one rank; 0 if the data has no end.
std::int64_t steps_of_epoch(const RunConfig& config);

struct SeenEpochs;
// Returns the same from the batches seen, as a program may make any batches. Returns 0 if the data
// has no end, or if the run saw no batches.
double steps_of_epoch(const RunConfig& config, const SeenEpochs& seen);

// Returns the mean steps per whole epoch that the rank ran; 0 if it ran none. Data without a length
// needs this.
std::int64_t steps_of_seen_epoch(const RankRecord& rank);

// Counts the epochs that begin in a window, from a rank's rows in their order. The start of the run
// itself does not count; it is its first batch.
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

// Epochs as one window saw them; means over the ranks.
struct SeenEpochs {
  double steps = 0, samples_per_step = 0;  // samples: of all ranks
  double begun = 0;                        // epochs that began in it
  Nanos window = 0, waited = 0;            // waited: waits for the begin of epochs
  Nanos apart = 0;                         // part of the window outside epochs

  double step_ns() const;   // time of a step without waits for the begin of an epoch
  double start_ns() const;  // time to start one epoch; 0 if none began
};
// Measures the epochs. `begun`: sum over all ranks.
SeenEpochs epochs_seen(const RunRecord& record, const Account& account, std::int64_t begun);
SeenEpochs epochs_seen(const RunRecord& record, const Account& account);  // counts `begun`

// Returns the time of the run's own epoch, with its start if the run saw it; 0 if unknown.
double epoch_seconds(const RunConfig& config, const SeenEpochs& seen);

// Returns the part of an epoch that no step of the window shows: " and the start of its workers";
// or "".
std::string unseen_of_epoch(const RunRecord& record, const Analysis& analysis);
bool restarts_workers(const RunConfig& config);  // true if every epoch starts new workers

}  // namespace loaderscope
