// Findings about the batches that are made ahead, and their order.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/finding_input.h"
#include "analysis/totals.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kUsualDepth = 2;
constexpr double kNearlyFull = 0.9;

bool shares_samples(const FindingInput& facts) {
  return facts.config.loader.task == TaskShape::sample;
}

std::int64_t current_depth(const FindingInput& facts) {
  return shares_samples(facts) ? facts.config.loader.prefetch_depth.value
                               : facts.config.loader.prefetch_factor.value;
}

std::string_view depth_key(const FindingInput& facts) {
  return shares_samples(facts) ? "prefetch-depth" : "prefetch-factor";
}

// PyTorch has no sample tasks; what shares samples has a queue of batches.
std::string depth_line(const FindingInput& facts) {
  return shares_samples(facts) ? "a queue of {} batches (DALI: prefetch_queue_depth)"
                               : loader_words(facts.record, {"prefetch_factor={}"});
}

// Returns the share of the places for ready batches that are in use; 0 if unknown.
double fullness(const FindingInput& facts) {
  double least = 1;
  bool counted = false;
  for (const RankRecord& rank : facts.record.ranks) {
    for (const QueueStats& queue : rank.queues) {
      if (queue.name != "ready" || queue.capacity <= 0) continue;
      counted = true;
      least = std::min(least, queue.mean_occupancy / static_cast<double>(queue.capacity));
    }
  }
  return counted ? least : 0;
}

}  // namespace

std::optional<Candidate> order_stall(const FindingInput& facts) {
  const double share = facts.share(facts.analysis.account.order);
  if (!facts.config.loader.in_order || share < kMinReportedShare) return std::nullopt;
  return Candidate{
      fmt::format("finished batches wait for a late one {} of the time", format_percent(share)),
      {{{"in-order", "false"}}},
      loader_words(facts.record, {"in_order=False"}) +
          ", but the order of batches changes  # PyTorch 2.6 or later"};
}

std::optional<Candidate> prefetch_too_shallow(const FindingInput& facts) {
  if (facts.config.loader.num_workers == 0 || !facts.sees_inside()) return std::nullopt;
  if (waits_for_device(facts.analysis.account)) return std::nullopt;
  const double shallow =
      facts.share(Why::depth) + facts.share(Why::latency) + facts.share(Cause::prefetch);
  const double order = facts.share(facts.analysis.account.order);
  if (std::max(shallow, order) < kMinReportedShare) return std::nullopt;
  const std::int64_t depth = current_depth(facts);
  const std::int64_t deepest =
      shares_samples(facts)
          ? kMaxDepth * std::min<std::int64_t>(facts.config.loader.num_workers, 512)
          : kMaxDepth;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "with {}={} workers rest once enough batches are ready, and are late {} of the time",
      shares_samples(facts) ? "prefetch-depth" : "prefetch_factor", depth,
      format_percent(std::max(shallow, order)));
  candidate.ranges = {{std::string(depth_key(facts)), depth, deepest}};
  candidate.pytorch = depth_line(facts);
  candidate.direction = {number(std::string(depth_key(facts)), std::min(2 * depth, deepest))};
  return candidate;
}

std::optional<Candidate> prefetch_wastes_memory(const FindingInput& facts) {
  const std::int64_t depth = current_depth(facts);
  const std::int64_t usual =
      shares_samples(facts) ? kUsualDepth * facts.config.loader.num_workers : kUsualDepth;
  if (facts.config.loader.num_workers == 0 || depth <= usual || fullness(facts) < kNearlyFull)
    return std::nullopt;
  const double bytes = facts.metric(metric::memory_host_bytes);
  return Candidate{
      fmt::format(
          "the {} that are made ahead for each rank are {} ready all the time{}",
          plural(depth * (shares_samples(facts) ? 1 : facts.config.loader.num_workers.value),
                 "batch"),
          format_percent(fullness(facts)),
          bytes > 0 ? "; " + format_size(bytes) + " of host memory hold it" : ""),
      {{number(std::string(depth_key(facts)), usual)}},
      depth_line(facts)};
}

}  // namespace loaderscope
