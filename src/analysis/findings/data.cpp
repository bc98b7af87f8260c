// Findings about wrong data: samples and random numbers that are given more than once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/findings/finding_input.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kMuchShared = 0.05;    // share of the samples; a few repeats fill up ranks
constexpr std::int64_t kMinCount = 20;  // shared samples needed for the finding

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
      if (!row.is_batch()) seen.push_back({row.epoch, row.sample, static_cast<std::int32_t>(rank)});
  }
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  return seen;
}

struct Shared {
  std::int64_t epochs = 0, samples = 0;  // number examined
  std::int64_t shared = 0;               // samples that several ranks had in the same epoch
};

Shared shared_samples(const RunRecord& record) {
  const std::vector<Seen> seen = seen_samples(record);
  Shared result;
  for (std::size_t i = 0; i < seen.size();) {
    if (i == 0 || seen[i].epoch != seen[i - 1].epoch) ++result.epochs;
    std::size_t next = i + 1;
    while (next < seen.size() && seen[next].epoch == seen[i].epoch &&
           seen[next].sample == seen[i].sample)
      ++next;
    ++result.samples;
    if (next - i > 1) ++result.shared;
    i = next;
  }
  return result;
}

std::string split_by_rank(const FindingInput& facts) {
  return std::string(find_framework(facts.record).divides) +
         ", or shards split by node (webdataset.split_by_node); no change if the ranks hold parts "
         "of "
         "one model";
}

std::int64_t metric_count(const FindingInput& facts, std::string_view metric) {
  return std::llround(facts.metric(metric));
}

}  // namespace

std::optional<Candidate> same_order_every_epoch(const FindingInput& facts) {
  const std::int64_t epochs = metric_count(facts, metric::data_repeated_orders);
  if (epochs == 0) return std::nullopt;
  return Candidate{
      fmt::format("{} had the shuffled order of an earlier one", plural(epochs, "epoch")),
      {},
      "sampler.set_epoch(epoch) before every epoch; do not seed its generator again"};
}

std::optional<Candidate> ranks_see_same_data(const FindingInput& facts) {
  if (facts.record.ranks.size() < 2) return std::nullopt;
  const std::int64_t alike = metric_count(facts, metric::data_alike_ranks);
  if (alike > 0) {
    return Candidate{
        fmt::format("{} began an epoch with the samples of another one", plural(alike, "rank")),
        {},
        split_by_rank(facts)};
  }
  if (metric_count(facts, metric::data_unnamed_samples) > 0) return std::nullopt;
  const auto [epochs, samples, shared] = shared_samples(facts.record);
  // A sampler repeats some for parts of the same size, at most one for each other rank.
  const std::int64_t padding = epochs * (std::ssize(facts.record.ranks) - 1);
  if (shared - padding < kMinCount ||
      static_cast<double>(shared) < kMuchShared * static_cast<double>(samples))
    return std::nullopt;
  return Candidate{
      fmt::format("{} of {} samples that were looked at went to more than one rank in the same "
                  "epoch",
                  format_count(shared), format_count(samples)),
      {},
      split_by_rank(facts)};
}

std::optional<Candidate> workers_see_same_data(const FindingInput& facts) {
  const std::int64_t alike = metric_count(facts, metric::data_alike_streams);
  const bool copied = metric_count(facts, metric::data_copied_streams) > 0;
  if (alike == 0 && !copied) return std::nullopt;
  std::string evidence;
  if (alike > 0) {
    evidence =
        fmt::format("the streams of {} began with the same samples", plural(alike + 1, "worker"));
  }
  if (copied) {
    evidence += fmt::format("{}an epoch has as many samples as {} times the data set",
                            evidence.empty() ? "" : "; ", facts.config.loader.num_workers.value);
  }
  return Candidate{evidence,
                   {},
                   "info = torch.utils.data.get_worker_info() in __iter__, and there every "
                   "info.num_workers-th sample from info.id on"};
}

std::optional<Candidate> workers_share_random_numbers(const FindingInput& facts) {
  const std::int64_t alike = metric_count(facts, metric::data_alike_seeds);
  if (alike == 0) return std::nullopt;
  return Candidate{
      fmt::format("{} of {} begin an epoch with the same random numbers: {}",
                  format_count(alike + 1), plural(facts.config.loader.num_workers, "worker"),
                  facts.named(metric::data_alike_seeds)),
      {},
      "a worker_init_fn that calls numpy.random.seed(torch.initial_seed() % 2**32); a "
      "generator of the data set is made there too, from torch.initial_seed()"};
}

std::optional<Candidate> epochs_repeat_random_numbers(const FindingInput& facts) {
  const std::int64_t alike = metric_count(facts, metric::data_repeated_seeds);
  if (alike == 0) return std::nullopt;
  return Candidate{fmt::format("{} began with the random numbers of an earlier one: {}",
                               plural(alike, "epoch"), facts.named(metric::data_repeated_seeds)),
                   {},
                   "seed from torch.initial_seed(), which differs by worker and epoch, in "
                   "worker_init_fn; not from a constant or the worker's number"};
}

std::optional<Candidate> workers_have_stale_state(const FindingInput& facts) {
  const std::int64_t stale = metric_count(facts, metric::data_stale_settings);
  const std::int64_t exhausted = metric_count(facts, metric::data_exhausted_streams);
  if (stale == 0 && exhausted == 0) return std::nullopt;
  if (stale > 0) {
    return Candidate{
        fmt::format("the trainer set {} again between epochs, and persistent workers still have "
                    "what they began with",
                    facts.named(metric::data_stale_settings)),
        {},
        "persistent_workers=False, or hold it in shared memory: torch.tensor(0).share_memory_()"};
  }
  return Candidate{fmt::format("in {} a persistent worker's stream had nothing left",
                               plural(exhausted, "epoch")),
                   {},
                   "restart in __iter__, or persistent_workers=False"};
}

}  // namespace loaderscope
