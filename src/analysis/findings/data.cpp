// Findings about which samples the ranks get.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analysis/findings/facts.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kMuch = 0.05;        // of the samples; a few are repeated to make ranks even
constexpr std::int64_t kFewest = 20;  // that are shared before anything is said

struct Seen {
  std::int32_t epoch;
  std::int64_t sample;
  std::int32_t rank;

  auto operator<=>(const Seen&) const = default;
};

// The rows of all ranks in the order of epoch and sample, each sample of an epoch once per rank.
std::vector<Seen> seen_samples(const RunRecord& record) {
  std::vector<Seen> seen;
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    for (const SampleRow& row : record.ranks[rank].reservoir)
      seen.push_back({row.epoch, row.sample, static_cast<std::int32_t>(rank)});
  }
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  return seen;
}

}  // namespace

std::optional<Candidate> ranks_see_same_data(const Facts& facts) {
  if (facts.record.ranks.size() < 2) return std::nullopt;
  const std::vector<Seen> seen = seen_samples(facts.record);
  std::int64_t samples = 0, shared = 0;
  for (std::size_t i = 0; i < seen.size();) {
    std::size_t next = i + 1;
    while (next < seen.size() && seen[next].epoch == seen[i].epoch &&
           seen[next].sample == seen[i].sample)
      ++next;
    ++samples;
    if (next - i > 1) ++shared;
    i = next;
  }
  if (shared < kFewest || static_cast<double>(shared) < kMuch * static_cast<double>(samples))
    return std::nullopt;
  return Candidate{
      fmt::format("{} of {} samples that were looked at went to more than one rank in the same "
                  "epoch",
                  show_count(shared), show_count(samples)),
      {},
      "DataLoader(..., sampler=DistributedSampler(ds)), and sampler.set_epoch(epoch) every epoch; "
      "shards split by node (webdataset.split_by_node)"};
}

}  // namespace loaderscope
