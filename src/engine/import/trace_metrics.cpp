// The metrics of a trace: its gaps, its DataLoader, its GPUs.
#include <algorithm>

#include "engine/import/sampled_stacks.h"
#include "engine/import/trace_record.h"

namespace loaderscope::traces {
namespace {

using Metrics = std::vector<Metric>;

struct GapSummary {
  GapTotal total;
  double mean_s = 0;
  Nanos origin = 0;
};

void add_gap(Metrics& metrics, GapKind kind, const GapSummary& summary, bool in_order) {
  const auto add = [&](GapFact fact, double value) {
    const GapFactRow& row = gap_row(fact);
    metrics.push_back(make_metric(metric_name(kind, fact), std::string(row.help), value));
  };
  add(GapFact::seconds, summary.mean_s);
  if (!in_order) return;
  add(GapFact::gaps, static_cast<double>(summary.total.gaps));
  add(GapFact::steps, static_cast<double>(summary.total.steps));
  if (summary.total.gaps == 0) return;
  add(GapFact::longest, seconds(summary.total.longest));
  add(GapFact::at, seconds(summary.total.longest_at - summary.origin));
  add(GapFact::step, static_cast<double>(summary.total.longest_step));
}

GapSummary summarise_gaps(const WalkedRun& walked, std::size_t kind) {
  GapSummary summary;
  for (std::size_t r = 0; r < walked.ranks.size(); ++r) {
    const GapTotal& total = walked.ranks[r].gaps.at(kind);
    summary.mean_s += seconds(total.time) / static_cast<double>(walked.ranks.size());
    summary.total.gaps += total.gaps;
    summary.total.steps += total.steps;
    if (total.longest <= summary.total.longest) continue;
    summary.total.longest = total.longest;
    summary.total.longest_at = total.longest_at;
    summary.total.longest_step = total.longest_step;
    summary.origin = walked.run.processes[walked.places[r].process].origin.value_or(0);
  }
  return summary;
}

void add_gaps(Metrics& metrics, const WalkedRun& walked) {
  const bool in_order = !walked.run.sampled || walked.run.sampled->in_order;
  for (std::size_t k = 0; k < kGapKinds; ++k) {
    const GapSummary summary = summarise_gaps(walked, k);
    if (summary.mean_s > 0) add_gap(metrics, static_cast<GapKind>(k), summary, in_order);
  }
}

double mean_s(const WalkedRun& walked, Nanos WalkedRank::*part) {
  double sum = 0;
  for (const WalkedRank& rank : walked.ranks) sum += seconds(rank.*part);
  return sum / static_cast<double>(std::max<std::size_t>(walked.ranks.size(), 1));
}

void add_samples(Metrics& metrics, const SampledShares& sampled) {
  const auto add = [&](const char* name, const char* help, std::int64_t samples) {
    metrics.push_back(make_metric(name, help, static_cast<double>(samples)));
  };
  const auto count = [&](Activity activity) {
    return sampled.counts.at(static_cast<std::size_t>(activity));
  };
  add(metric::profile_samples, "of the training thread, without its imports", sampled.all);
  add(metric::profile_own, "of them in nothing of the DataLoader's", count(Activity::own));
  add(metric::profile_waiting, "of them in its next, for workers", count(Activity::waiting));
  add(metric::profile_making, "of them in its next, which makes the batch itself",
      count(Activity::making));
  add(metric::profile_pinning, "of them in its next, which pins", count(Activity::pinning));
  add(metric::profile_starting, "of them in its iter", count(Activity::starting));
}

void add_loader(Metrics& metrics, const WalkedRun& walked) {
  metrics.push_back(
      make_metric(metric::loader_waits_s,
                  "that the trainer was in its DataLoader's next, whatever the GPU did, mean "
                  "over ranks",
                  mean_s(walked, &WalkedRank::loader_waits)));
  if (walked.run.sampled) return add_samples(metrics, *walked.run.sampled);
  std::int64_t calls = 0;
  for (const WalkedRank& rank : walked.ranks) calls += rank.loader_calls;
  metrics.push_back(make_metric(metric::loader_batches, "that were asked for, of all ranks",
                                static_cast<double>(calls)));
}

void add_kernels(Metrics& metrics, const WalkedRun& walked) {
  metrics.push_back(
      make_metric(metric::gpu_kernels_s,
                  "in which a kernel ran, mean over ranks; compute also counts what is copied "
                  "within the GPU and set",
                  mean_s(walked, &WalkedRank::kernels)));
  if (const double only = mean_s(walked, &WalkedRank::only_collective); only > 0)
    metrics.push_back(
        make_metric(metric::gpu_only_collective_s,
                    "of compute, in which nothing but collectives ran: they exchange data, or "
                    "wait for another rank; mean over ranks",
                    only));
  if (!walked.waits.are_known) return;
  double waited = 0;
  for (const RankWait& wait : walked.waits.ranks) waited += seconds(wait.for_any);
  metrics.push_back(
      make_metric(metric::gpu_waits_for_ranks_s,
                  "in collectives that another rank had not begun, for whatever reason, over "
                  "all of the trace, mean over ranks",
                  waited / static_cast<double>(walked.ranks.size())));
}

void add_copies(Metrics& metrics, const TracedRun& run) {
  double bytes = 0;
  Nanos copied = 0;
  for (const TracedGpu& gpu : run.gpus_used) {
    bytes += gpu.from_pageable.bytes + gpu.from_pinned.bytes;
    copied += gpu.from_pageable.time + gpu.from_pinned.time;
  }
  if (copied == 0) return;
  metrics.push_back(make_metric(metric::gpu_h2d_s, "copies from the host to the GPUs, all together",
                                seconds(copied)));
  metrics.push_back(
      make_metric(metric::gpu_h2d_bytes, "that were copied from the host to the GPUs", bytes));
}

}  // namespace

std::vector<Metric> make_metrics(const WalkedRun& walked) {
  Metrics metrics;
  add_gaps(metrics, walked);
  metrics.push_back(make_metric(metric::trace_steps_known,
                                "the trace separates steps; else all of it is one (0)",
                                walked.ranks.front().steps.basis == StepBasis::none ? 0.0 : 1.0));
  if (walked.run.has_loader) add_loader(metrics, walked);
  if (!walked.has_gpu() || walked.run.sampled) return metrics;
  add_kernels(metrics, walked);
  add_copies(metrics, walked.run);
  return metrics;
}

}  // namespace loaderscope::traces
