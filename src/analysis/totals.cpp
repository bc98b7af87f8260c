#include "analysis/totals.h"

#include <algorithm>

#include "analysis/wording.h"
#include "loaderscope/run_config.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

// Returns the time in the window of one rank, from its time per batch.
Nanos window_time(const RunRecord& record, std::string_view metric) {
  if (record.ranks.empty()) return 0;
  const double batch_s = value_of(record.metrics, metric).value_or(0);
  return static_cast<Nanos>(batch_s * kSecond * static_cast<double>(record.ranks.front().steps()));
}

}  // namespace

PerStage<StageStats> job_stages(const RunRecord& record) {
  PerStage<StageStats> stages;
  for (const RankRecord& rank : record.ranks) {
    for (std::size_t s = 0; s < kStages; ++s) stages.at(s).merge(rank.stages.at(s));
  }
  return stages;
}

std::vector<QueueStats> job_queues(const RunRecord& record) {
  std::vector<QueueStats> queues;
  std::vector<std::int64_t> ranks;
  for (const RankRecord& rank : record.ranks) {
    for (const QueueStats& queue : rank.queues) {
      auto found = std::find_if(queues.begin(), queues.end(),
                                [&](const QueueStats& q) { return q.name == queue.name; });
      if (found == queues.end()) {
        queues.push_back(queue);
        ranks.push_back(1);
        continue;
      }
      std::int64_t& n = ranks[static_cast<std::size_t>(found - queues.begin())];
      ++n;
      found->capacity = std::max(found->capacity, queue.capacity);
      found->max_occupancy = std::max(found->max_occupancy, queue.max_occupancy);
      found->mean_occupancy +=
          (queue.mean_occupancy - found->mean_occupancy) / static_cast<double>(n);
      found->get_wait += queue.get_wait;
      found->put_wait += queue.put_wait;
    }
  }
  return queues;
}

double rank_rate(const RankRecord& rank, std::int64_t RankRecord::*count) {
  if (rank.steps() <= 0 || rank.window() <= 0) return 0;
  return static_cast<double>(rank.*count) / seconds(rank.window());
}

std::optional<double> per_second(const RunRecord& record, std::int64_t RankRecord::*count) {
  const bool counts_all = is_native_engine(record.engine) || is_model_engine(record.engine);
  double sum = 0;
  for (const RankRecord& rank : record.ranks) sum += rank_rate(rank, count);
  return counts_all || sum > 0 ? std::optional(sum) : std::nullopt;
}

bool waits_for_other_loaders(const RunRecord& record, const Account& account) {
  if (record.loaders.empty() || record.ranks.empty()) return false;
  Nanos waited = 0;  // a program's launches are this, the sampler and what the loader is wrapped in
  const Nanos others = sampler_time(record) + wrapper_time(record);
  for (const RankRecord& rank : record.ranks)
    waited += std::max<Nanos>(rank.stages[Stage::launch].wall - others, 0);
  return 2 * waited >= std::ssize(record.ranks) * account.stall[Cause::launch];
}

Nanos sampler_time(const RunRecord& record) { return window_time(record, metric::sampler_s); }

Nanos wrapper_time(const RunRecord& record) { return window_time(record, metric::wrapper_s); }

bool waits_for_wrapper(const RunRecord& record, const Account& account) {
  return account.stall[Cause::launch] > 0 &&
         2 * wrapper_time(record) >= account.stall[Cause::launch];
}

bool waits_for_sampler(const RunRecord& record, const Account& account) {
  return account.stall[Cause::launch] > 0 &&
         2 * sampler_time(record) >= account.stall[Cause::launch];
}

bool waits_for_notifications(const std::vector<Metric>& host_metrics, const Account& account) {
  const Nanos launch = account.stall[Cause::launch];
  return launch > 0 &&
         2 * value_of(host_metrics, metric::rendezvous_notification_delay_s).value_or(0) >=
             seconds(launch);
}

bool waits_for_notifications(const RunRecord& record, const Account& account) {
  return waits_for_notifications(record.metrics, account) ||
         std::any_of(record.hosts.begin(), record.hosts.end(), [&](const HostRecord& host) {
           return waits_for_notifications(host.metrics, account);
         });
}

std::string describe_cause(Cause cause, const RunRecord& record, const Account& account) {
  if (cause == Cause::launch && waits_for_notifications(record, account))
    return "notifications from other processes";
  return std::string(shown_name(name_of(cause), record.config));
}

bool has_gpu(const RunRecord& record) {
  switch (device_kind(record.config.trainer.device.value)) {
    case DeviceKind::gpu:
    case DeviceKind::simulated:
      return true;
    case DeviceKind::program:
      return record.program && record.program->uses_gpu;
    case DeviceKind::none:
      return false;
  }
  return false;
}

bool is_gpu_unseen(const RunRecord& record) {
  return device_kind(record.config.trainer.device.value) == DeviceKind::program && has_gpu(record);
}

std::optional<double> copy_rate(const RunRecord& record) {
  const double took = value_of(record.metrics, metric::gpu_h2d_s).value_or(0);
  if (took > 0) return value_of(record.metrics, metric::gpu_h2d_bytes).value_or(0) / took;
  if (record.config.program.command.given) return std::nullopt;
  const StageStats copies = job_stages(record)[Stage::h2d];
  if (copies.bytes <= 0 || copies.wall <= 0) return std::nullopt;
  return static_cast<double>(copies.bytes) / seconds(copies.wall);
}

std::vector<std::string> first_texts(const RunRecord& record, std::string_view about,
                                     std::size_t most) {
  std::vector<std::string> texts;
  for (const Detail& detail : record.details)
    if (detail.about == about && texts.size() < most) texts.push_back(detail.text);
  return texts;
}

Nanos step_mean(const RunRecord& record, Nanos part) {
  std::int64_t steps = 0;
  for (const RankRecord& rank : record.ranks) steps += std::max<std::int64_t>(rank.steps(), 0);
  if (steps == 0) return part;
  // The product of both may not fit in 64 bits.
  const auto ranks = static_cast<std::int64_t>(record.ranks.size());
  return part / steps * ranks + part % steps * ranks / steps;
}

double busy_share(const Account& account) { return window_share(account.compute, account); }

Nanos histogram_sum(const Histogram& histogram) {
  Nanos sum = 0;
  for (const Histogram::Bucket& bucket : histogram.buckets()) sum += bucket.sum;
  return sum;
}

double cores_of_job(const RunRecord& record) {
  if (record.hosts.empty()) return record.machine.cores;
  double cores = 0;
  for (const HostRecord& host : record.hosts) {
    if (host.machine.cores <= 0) return 0;
    cores += host.machine.cores;
  }
  return cores;
}

}  // namespace loaderscope
