// Findings about streams, of which a worker reads whole shards.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/facts.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

std::string ways_to_more(const Facts& facts, std::int64_t wanted) {
  const DataLibraryRow* library = data_library_of(facts.record);
  if (library != nullptr && !library->more_shards.empty())
    return fmt::format(fmt::runtime(library->more_shards), wanted);
  return fmt::format("more and smaller shards, {} at least", wanted);
}

std::string idle_words(std::int64_t workers, std::int64_t shards) {
  return workers > shards
             ? fmt::format("{} of {} have none", workers - shards, plural(workers, "worker"))
             : fmt::format("more than {} would have none", plural(workers, "worker"));
}

}  // namespace

std::optional<Candidate> too_few_shards(const Facts& facts) {
  const std::int64_t workers = facts.config.loader.num_workers, shards = shards_of_stream(facts);
  const double waits = facts.share(Why::capacity);
  if (shards <= 0 || workers < std::max<std::int64_t>(shards, 1) || waits < kWorthSaying)
    return std::nullopt;
  const std::int64_t of_rank = workers > shards ? workers : 2 * workers;
  return Candidate{
      fmt::format("a worker reads whole shards, and the stream of a rank has {}: {}, while the "
                  "trainer waits {} of the time",
                  shards, idle_words(workers, shards), show_percent(waits)),
      {},
      ways_to_more(facts, of_rank * facts.config.trainer.ranks)};
}

}  // namespace loaderscope
