// The verdict, or the reason why there is none, and the first line of the answer.
#pragma once

#include <functional>

#include "analysis/statistics.h"
#include "loaderscope/analysis.h"

namespace loaderscope {

inline constexpr std::int64_t kMinSteps = 20;    // steps needed for a verdict
inline constexpr double kMaxOther = 0.05;        // share of the window
inline constexpr double kMaxClamped = 0.01;      // share of the window
inline constexpr double kMaxStandstill = 0.01;   // share of the window
inline constexpr double kMaxOfGpu = 0.01;        // share of a window whose other steps the host saw
inline constexpr double kMaxWidthOfBusy = 0.30;  // share of the window, to both sides
inline constexpr double kModerateStall = 0.05;   // share of the window
inline constexpr double kHighStall = 0.20;
inline constexpr std::int64_t kEnoughBlocks = 10;  // blocks needed for an interval
inline constexpr std::int64_t kTimesAsLong = 4;    // a run with half the interval
inline constexpr std::size_t kMaxNamed = 3;        // undecided causes, with `other`

// Returns the minimum steps of a block: two bursts of the workers.
std::int64_t block_steps(const RunConfig& config);

// Returns the steps for a verdict and at least ten blocks for its intervals.
std::int64_t enough_steps(const RunConfig& config);

// The flag, with its value, that makes a run of `steps` measured steps long enough for a verdict,
// and `wanted` steps long.
struct LongerRun {
  std::string_view flag;
  std::int64_t value = 0;
};
LongerRun longer_run(const RunConfig& config, std::int64_t steps, std::int64_t wanted = 0);
// Returns true if another program was measured to its end, so that it has no more steps.
bool ran_to_its_end(const RunRecord& record);
// Returns true if there are enough steps for intervals, or if the halves of the run agree.
bool is_firm(const Analysis& analysis);
// Returns the reason why there are too few steps for an interval.
std::string no_firm_interval(const RunRecord& record, std::int64_t steps);
// Returns the steps per block for the intervals of a run.
std::int64_t steps_of_block(const RunRecord& record);
// Returns "; give --steps 240", or other advice if the program has no more steps.
std::string how_to_run(const RunRecord& record, const LongerRun& longer);

// Returns the interval of the difference between two causes' shares of the window in the account.
using AccountLead = std::function<Estimate(Cause first, Cause next)>;
AccountLead account_lead(Bootstrap bootstrap);
AccountLead account_lead(const RunRecord& record);

// Judges an analysis that is complete except for the verdict and the findings.
Verdict judge(const RunRecord& record, const Analysis& analysis, const AccountLead& lead);

// Returns "training" for another program of which the host sees the training and not the GPU,
// otherwise "the GPU".
std::string_view what_computes(const RunConfig& config);
std::string limit_words(const RunRecord& record);  // "the GPU is the limit"

// Returns the reason of the cause in words that a user understands: "capacity, the workers never
// rest".
std::string explain(Cause cause, const Account& account, const RunRecord& record);

// Returns true if the first line reports the gain without each named cause, and not the wait.
bool speaks_of_gains(const Analysis& analysis, const Verdict& verdict);

// Returns the first line if the advised change removes another cause than the largest one.
std::string fix_sentence(const RunRecord& record, const Analysis& analysis, Cause fixed);

// Returns the first line of the answer, for a verdict that is complete otherwise.
std::string verdict_sentence(const RunRecord& record, const Analysis& analysis,
                             const Verdict& verdict);

}  // namespace loaderscope
