// What an epoch of a run takes: its steps, and how it begins.
#pragma once

#include <cstdint>
#include <string>

#include "loaderscope/analysis.h"

namespace loaderscope {

// Of one rank; 0: the data has no end.
std::int64_t steps_of_epoch(const RunConfig& config);

// What a window has seen of epochs; the mean over the ranks.
struct SeenEpochs {
  double steps = 0, samples_per_step = 0;  // samples: of all ranks
  double begun = 0;                        // epochs that began in it
  Nanos window = 0, waited = 0;            // waited: for their begin

  double step_ns() const;   // without the waits for an epoch's begin
  double start_ns() const;  // of one epoch; 0 where none began
};
SeenEpochs epochs_seen(const RunRecord& record, const Account& account);

// Of the run's own epoch, with its begin as far as it was seen; 0: not known.
double epoch_seconds(const RunConfig& config, const SeenEpochs& seen);

// What no step of a window within one epoch has shown: " and the start of its workers"; or "".
std::string unseen_of_epoch(const RunRecord& record, const Analysis& analysis);
bool restarts_workers(const RunConfig& config);  // at every epoch

}  // namespace loaderscope
