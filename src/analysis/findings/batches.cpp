// Findings about the size of batches and of epochs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/epochs.h"
#include "analysis/findings/finding_input.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kMuchOfSteps = 0.05;  // share of the steps

struct Counted {
  std::int64_t steps = 0;
  std::int64_t short_ones = 0;  // last batches of an epoch, with fewer samples than others
};

Counted count_steps(const FindingInput& facts) {
  Counted counted;
  for (const RankRecord& rank : facts.record.ranks) {
    std::optional<std::int32_t> before;  // samples of the rank's previous step
    rank.rows.for_each(
        [&](const StepRow& row) {
          if (row.first_of_epoch && before && *before < facts.config.loader.batch_size)
            ++counted.short_ones;
          before = row.samples;
          ++counted.steps;
        },
        rank.warmup_steps);
  }
  return counted;
}

}  // namespace

std::optional<Candidate> epoch_refill(const FindingInput& facts) {
  const RunConfig& config = facts.config;
  if (config.loader.num_workers == 0 || !facts.sees_inside() ||
      facts.share(Why::epoch) < kMinReportedShare)
    return std::nullopt;
  const bool persist = config.loader.persistent_workers;
  if (!persist && starts_take_time(facts)) return std::nullopt;
  constexpr std::int64_t kNoneCounted = 0;  // the length follows from the batches seen
  const double steps =
      steps_of_epoch(config, epochs_seen(facts.record, facts.analysis.account, kNoneCounted));
  const std::string length =
      steps > 0 ? fmt::format(", of {},", plural(std::llround(steps), "step")) : "";
  Candidate candidate{fmt::format("{}, and every epoch{} still begins with an empty window: {} of "
                                  "the time",
                                  persist ? "workers persist" : "workers start at once", length,
                                  format_percent(facts.share(Why::epoch))),
                      {},
                      "longer epochs, with one sampler that continues over all of them (timm: "
                      "MultiEpochsDataLoader)"};
  candidate.gives_waited = true;
  return candidate;
}

std::optional<Candidate> short_last_batches(const FindingInput& facts) {
  const RunConfig& config = facts.config;
  const bool may_be = !config.loader.drop_last && config.data.samples > 0;
  if (!may_be || config.data.samples % config.loader.batch_size == 0) return std::nullopt;
  const Counted counted = count_steps(facts);
  const double share = counted.steps > 0 ? static_cast<double>(counted.short_ones) /
                                               static_cast<double>(counted.steps)
                                         : 0;
  if (share < kMuchOfSteps) return std::nullopt;
  return Candidate{fmt::format("{} of the steps are the short last batch of an epoch, with fewer "
                               "than {} samples",
                               format_percent(share), config.loader.batch_size.value),
                   {{{"drop-last", "true"}}},
                   loader_words(facts.record, {"drop_last=True"}) +
                       "; shuffled, an epoch leaves out other samples "
                       "each time"};
}

double spent_per_batch(const FindingInput& facts) {
  return facts.share(Cause::launch) + facts.share(Cause::transport);
}

namespace {

// Returns "launch 20.0 %, transport 3.1 %", without negligible shares.
std::string per_batch_words(const FindingInput& facts) {
  std::string text;
  for (const Cause cause : {Cause::launch, Cause::transport}) {
    if (facts.share(cause) < kMinReportedShare / 10) continue;
    text += (text.empty() ? "" : ", ") + share_words(facts, cause);
  }
  return text;
}

}  // namespace

std::optional<Candidate> per_batch_overhead(const FindingInput& facts) {
  const RunConfig& config = facts.config;
  const double spent = spent_per_batch(facts);
  if (facts.waits_for_other_loaders() || facts.waits_for_sampler() ||
      facts.waits_for_notifications() || spent < kModerateStall || spent < facts.making())
    return std::nullopt;
  Changes larger = {number("batch-size", 2 * config.loader.batch_size)};
  // A step of twice the samples is taken to compute twice as long.
  const bool computes = facts.analysis.has_busy && config.trainer.compute.value.per_batch == 0;
  if (computes) larger.push_back({"compute.speed", "0.5"});
  Candidate candidate{
      fmt::format("what a batch costs however many samples it has is waited for {} of the time "
                  "({})",
                  format_percent(spent), per_batch_words(facts)),
      {larger},
      loader_words(facts.record, {"batch_size={}"}) + ", if the training allows it"};
  candidate.to_run = {larger.front()};
  return candidate;
}

}  // namespace loaderscope
