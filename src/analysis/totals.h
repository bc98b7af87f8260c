// Totals of a record over its ranks, which several reports use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

PerStage<StageStats> job_stages(const RunRecord& record);
// Returns the queues by name: the largest capacity and occupancy, the mean of the means, the sum of
// the waits.
std::vector<QueueStats> job_queues(const RunRecord& record);

// Returns a count per second of the window; 0 without a window.
double rank_rate(const RankRecord& rank, std::int64_t RankRecord::*count);
// Returns the sum over the ranks; empty if unknown. Our own loader counts everything. For other
// loaders and for imported runs, unknown counts are 0 in the record.
std::optional<double> per_second(const RunRecord& record, std::int64_t RankRecord::*count);

// Returns true if the program waits for its other loaders, which are not measured, during at least
// half of its `launch`.
bool waits_for_other_loaders(const RunRecord& record, const Account& account);

// Returns the time in the window that the trainer's thread of another program takes to choose the
// samples of its batches, for one rank.
Nanos sampler_time(const RunRecord& record);
// Returns true if that is at least half of `launch`.
bool waits_for_sampler(const RunRecord& record, const Account& account);
// Does the same for the code that passes on the loader's batches, such as a framework around a
// DataLoader.
Nanos wrapper_time(const RunRecord& record);
bool waits_for_wrapper(const RunRecord& record, const Account& account);
// Does the same for notifications of other processes' ranks, without which the next step does not
// begin. A job uses its host that waits longest for them.
bool waits_for_notifications(const std::vector<Metric>& host_metrics, const Account& account);
bool waits_for_notifications(const RunRecord& record, const Account& account);
// Returns the name of the cause, such as "decode". A `launch` that waits for late notifications
// gets its own words.
std::string describe_cause(Cause cause, const RunRecord& record, const Account& account);

// Returns the bytes per second of the copies to the device. Empty if the timed part moved no bytes.
// The host's copy call may return at once, and only part of a copy may be visible.
std::optional<double> copy_rate(const RunRecord& record);

// Returns the first texts of the details about a metric or a stage, the largest share first.
std::vector<std::string> first_texts(const RunRecord& record, std::string_view about,
                                     std::size_t most);

// Scales a part of the account, which is a mean over ranks, to a mean step of all ranks, weighted
// by their number of steps. Returns the part itself if no step was measured.
Nanos step_mean(const RunRecord& record, Nanos part);

// Returns the part of the cause's time in which the device made the batch: 0 to 1.
double device_share(Cause cause, const Account& account);
// Returns true if most of the wait for batches to be made is for the device that makes them.
bool waits_for_device(const Account& account);

double busy_share(const Account& account);  // 0 without a window
// Returns the account for another busy share; causes keep their proportions.
Account with_busy(Account account, double busy);
Nanos histogram_sum(const Histogram& histogram);

// Returns true if the trainer waits for a GPU, of a program or of a device of our own.
bool has_gpu(const RunRecord& record);
// Returns true for a program whose GPU times are unknown. `busy` is then the training that the host
// saw.
bool is_gpu_unseen(const RunRecord& record);

double cores_of_job(const RunRecord& record);  // all hosts

}  // namespace loaderscope
