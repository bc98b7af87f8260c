// The verdict: what limits the run, or why that cannot be said, and the first line of the answer.
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
inline constexpr double kMaxWidthOfBusy = 0.30;  // to both sides, of the window
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
// All of somebody else's program was measured: it has no more steps.
bool ran_to_its_end(const RunRecord& record);
// There are steps enough for intervals, or their halves agree.
bool is_firm(const Analysis& analysis);
// Returns the reason why there are too few steps for an interval.
std::string no_firm_interval(const RunRecord& record, std::int64_t steps);
// Steps of a block for the intervals of a run.
std::int64_t steps_of_block(const RunRecord& record);
// "; give --steps 240", or what to do where the program has no more.
std::string how_to_run(const RunRecord& record, const LongerRun& longer);

// The interval of how much more of the window one cause has of the account than another.
using AccountLead = std::function<Estimate(Cause first, Cause next)>;
AccountLead account_lead(Bootstrap bootstrap);
AccountLead account_lead(const RunRecord& record);

// Judges an analysis of which all but the verdict and the findings is filled.
Verdict judge(const RunRecord& record, const Analysis& analysis, const AccountLead& lead);

// "training", of somebody else's program, of which the host sees its training and not its GPU;
// else "the GPU".
std::string_view what_computes(const RunConfig& config);
std::string limit_words(const RunRecord& record);  // "the GPU is the limit"

// The cause's reason in words that a user understands: "capacity, the workers never rest".
std::string explain(Cause cause, const Account& account, const RunRecord& record);

// The first line says what is gained without each cause that it names, and not what is waited for.
bool speaks_of_gains(const Analysis& analysis, const Verdict& verdict);

// Returns the first line if the advised change removes another cause than the largest one.
std::string sentence_of_fix(const RunRecord& record, const Analysis& analysis, Cause mended);

// The first line of the answer, for a verdict of which all else is filled.
std::string sentence_of(const RunRecord& record, const Analysis& analysis, const Verdict& verdict);

}  // namespace loaderscope
