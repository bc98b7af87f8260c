// Findings about streams, of which a worker reads whole shards.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/findings/finding_input.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

std::string ways_to_more(const FindingInput& facts, std::int64_t wanted) {
  const DataLibraryRow* library = find_data_library(facts.record);
  if (library != nullptr && !library->more_shards.empty())
    return fmt::format(fmt::runtime(library->more_shards), wanted);
  return fmt::format("more and smaller shards, {} at least", wanted);
}

std::string idle_words(std::int64_t workers, std::int64_t shards) {
  return workers > shards
             ? fmt::format("{} of {} have none", workers - shards, plural(workers, "worker"))
             : fmt::format("more than {} would have none", plural(workers, "worker"));
}

// Returns the speed-up of `wanted` workers over the `working` workers that have shards, as far as
// the cores allow.
Changes with_more_at_work(const FindingInput& facts, std::int64_t working, std::int64_t wanted) {
  const double cores = facts.cores_per_rank() / std::max(facts.cpu_share(), 0.01);
  const auto at_most = std::max<std::int64_t>(std::llround(cores), working);
  const double factor =
      static_cast<double>(std::min(wanted, at_most)) / static_cast<double>(working);
  Changes changes;
  for (const Stage stage : kMakingStages) {
    if (facts.stages[stage].count > 0)
      changes.push_back({std::string(name_of(stage)) + ".speed", real_to_text(factor)});
  }
  return changes;
}

}  // namespace

std::optional<Candidate> too_few_shards(const FindingInput& facts) {
  const std::int64_t workers = facts.config.loader.num_workers, shards = shards_of_stream(facts);
  const double waits = facts.share(Why::capacity);
  if (shards <= 0 || workers < std::max<std::int64_t>(shards, 1) || waits < kMinReportedShare)
    return std::nullopt;
  const std::int64_t rank_shards = workers > shards ? workers : 2 * workers;
  return Candidate{
      fmt::format("a worker reads whole shards, and the stream of a rank has {}: {}, while the "
                  "trainer waits {} of the time",
                  shards, idle_words(workers, shards), format_percent(waits)),
      {with_more_at_work(facts, shards, rank_shards)},
      ways_to_more(facts, rank_shards * facts.config.trainer.ranks)};
}

}  // namespace loaderscope
