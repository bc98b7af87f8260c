// What several reports need of a record, added up over its ranks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

PerStage<StageStats> job_stages(const RunRecord& record);
// By name: the largest capacity and occupancy, the mean of the means, the sum of the waits.
std::vector<QueueStats> job_queues(const RunRecord& record);

// A count of the window per second of it; 0 without a window.
double rate_of(const RankRecord& rank, std::int64_t RankRecord::*count);
// The sum over the ranks. None: not known. Our own loader counts everything; of somebody else's,
// and of a run that is over, what nobody counted is 0 in the record.
std::optional<double> per_second(const RunRecord& record, std::int64_t RankRecord::*count);

// Of a program that takes batches from several loaders: what it waited for those that are not
// measured is half of its `launch` at least.
bool waits_for_other_loaders(const RunRecord& record, const Account& account);

// Of a rank of somebody else's program, in the window: what its own thread took to choose the
// samples of its batches.
Nanos chosen_in(const RunRecord& record);
// It is half of `launch` at least.
bool waits_for_sampler(const RunRecord& record, const Account& account);
// Likewise in what gives the loader's batches on, as a framework does around a DataLoader.
Nanos wrapped_in(const RunRecord& record);
bool waits_for_wrapper(const RunRecord& record, const Account& account);
// Likewise for word of other processes' ranks, without which its next step does not begin; of a job
// the host that waits longest for it.
bool waits_for_notifications(const std::vector<Metric>& of_host, const Account& account);
bool waits_for_notifications(const RunRecord& record, const Account& account);
// "decode"; of `launch` that is late word of others, what it is: no launching.
std::string words_of_cause(Cause cause, const RunRecord& record, const Account& account);

// Bytes per second of the copies to the device. Nothing where what was timed moved none: the host's
// call of a copy may return at once, and what no kernel hides of a copy is a part of it.
std::optional<double> copy_rate(const RunRecord& record);

// Of the details about a metric or a stage the first texts, the largest share first.
std::vector<std::string> first_texts(const RunRecord& record, std::string_view about,
                                     std::size_t most);

// Of a part of the account, which is a mean over ranks: what it is of a mean step of them all, each
// rank with as many as it had. The part itself where none was measured.
Nanos of_step(const RunRecord& record, Nanos part);

double busy_of(const Account& account);  // 0 without a window
// As it would be with another busy share: causes keep their proportions.
Account with_busy(Account account, double busy);
Nanos sum_of(const Histogram& histogram);

// That is waited for: the program's, or a device's of our own.
bool has_gpu(const RunRecord& record);
// A program's whose own times are not known: `busy` is what the host saw of the training.
bool is_gpu_unseen(const RunRecord& record);

double cores_of_job(const RunRecord& record);  // of all its hosts

}  // namespace loaderscope
