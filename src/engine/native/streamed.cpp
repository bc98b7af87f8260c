#include "engine/native/streamed.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

#include "base/arithmetic.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

std::string note_of_ranks(const std::vector<std::int64_t>& samples) {
  std::string text;
  for (std::size_t rank = 0; rank < samples.size(); ++rank) {
    text +=
        fmt::format("{}rank {} had {}", rank == 0 ? "" : ", ", rank, format_count(samples[rank]));
  }
  return "the ranks' streams are unequal, of the samples of an epoch " + text +
         "; ranks that train together wait for each other, and hang where one has ended";
}

}  // namespace

void check_shards(const RunConfig& config, const StreamSource& streams) {
  if (streams.shards() >= config.trainer.ranks) return;
  throw RunError(
      fmt::format("the data has {} for {} ranks, and a stream gives each rank whole shards",
                  plural(streams.shards(), "shard"), config.trainer.ranks.value),
      "give "
      "fewer --ranks, or leave out stream=1");
}

void add_streamed_facts(const LoaderPlan& plan, const StreamSource& streams,
                        const std::vector<std::int64_t>& samples, RunRecord& record) {
  const std::int64_t shards = streams.shards();
  const std::int64_t rank_shards = divide_up(shards, plan.ranks);
  record.metrics.push_back(make_metric(
      metric::data_shards, "of the streamed data set of a rank: more workers read nothing",
      static_cast<double>(rank_shards)));
  if (plan.workers > rank_shards) {
    record.notes.push_back(fmt::format(
        "the data has {}{}: of {} {}, the others have nothing to read", plural(shards, "shard"),
        plan.ranks > 1 ? fmt::format(" for {} ranks", plan.ranks) : "",
        plural(plan.workers, "worker"),
        rank_shards == 1 ? "one reads" : fmt::format("{} read", rank_shards)));
  }
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  if (*least == 0) return;
  record.metrics.push_back(make_metric(
      metric::data_epoch_samples, "of all ranks in the first epoch, which has ended",
      static_cast<double>(std::accumulate(samples.begin(), samples.end(), std::int64_t{0}))));
  if (*least < *most) record.notes.push_back(note_of_ranks(samples));
}

}  // namespace loaderscope::native
