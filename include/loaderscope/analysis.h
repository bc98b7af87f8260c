// The answer: what a record says. Pure functions of facts; nothing here looks at the machine or a
// clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// A mean with its 95 % interval.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;

  double half_width() const { return (high - low) / 2; }
};

// compute + all causes = window, to the ns.
struct Account {
  Nanos window = 0;
  Nanos compute = 0;
  PerCause<Nanos> stall{};
  Nanos launching = 0, not_asking = 0;  // of stall[launch]
  Nanos waiting_for_ranks = 0;          // of all causes
  PerWhy<Nanos> why{};
  Nanos order = 0;
  Nanos clamped = 0;

  Nanos idle() const { return window - compute; }
};

struct Verdict {
  // "compute", a cause, or nothing when two causes cannot be told apart or the verdict is withheld.
  std::optional<std::string> bound_by;
  std::vector<Cause> candidates;  // the leading cause first, then those not told apart from it
  std::optional<std::string> severity;  // none, moderate, high
  std::optional<std::string> withheld_reason;
  std::string sentence;  // the first line of the answer
};

struct Analysis {
  // Of the job: the mean over ranks in integer ns (remainders to the last rank's causes, so that it
  // closes too).
  Account account;
  std::vector<Account> rank_accounts;
  bool has_busy = false;     // there is a compute to be busy with
  Estimate busy;             // share of the window
  PerCause<Estimate> share;  // of the window
  Estimate samples_per_s;    // sum over ranks
  std::int64_t steps = 0;    // measured, per rank
  std::int64_t samples = 0;  // over all ranks
  bool steady = false;
  Histogram step_time;  // between the ends of successive computes
  Nanos first_batch_wall = 0;
  std::vector<std::pair<std::string, Nanos>>
      first_batch_by_cause;  // sums to the wall; zeros left out
  std::optional<double> epoch_predicted_s;
  Verdict verdict;
  std::vector<std::string> notes;  // what the run was too short to see
};

Account account_of(const RankRecord& rank);
Account mean_account(const std::vector<Account>& ranks);
Analysis analyse(const RunRecord& record);

}  // namespace loaderscope
