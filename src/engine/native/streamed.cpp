#include "engine/native/streamed.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

#include "loaderscope/errors.h"
#include "settings/refuse.h"

namespace loaderscope::native {
namespace {

[[noreturn]] void refuse(const RunConfig& config, std::string_view name, const std::string& why) {
  settings::refuse(config, name, "the data is a stream: " + why);
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::string note_of_ranks(const std::vector<std::int64_t>& samples) {
  std::string text;
  for (std::size_t rank = 0; rank < samples.size(); ++rank) {
    text += fmt::format("{}rank {} had {}", rank == 0 ? "" : ", ", rank, show_count(samples[rank]));
  }
  return "the ranks' streams are unequal, of the samples of an epoch " + text +
         "; ranks that train together wait for each other, and hang where one has ended";
}

}  // namespace

void check_streamed(const RunConfig& config, const Streams& streams, const Knockouts& knockouts) {
  if (config.loader.task == TaskShape::sample && config.loader.num_workers > 0)
    refuse(config, "task", "its workers make whole batches of their own shards; give task = batch");
  if (config.data.samples > 0)
    refuse(config, "samples", "how many it has is known when it ends; give --steps or --epochs");
  if (config.loader.shuffle)
    refuse(config, "shuffle", "its order is its own; give tar:PATH?stream=1&shuffle=1000");
  if (config.trainer.sync_ranks && config.trainer.ranks > 1 && config.measure.epochs > 0) {
    refuse(config, "sync-ranks",
           "its ranks may have unequal numbers of batches, and one that ended would keep the "
           "others; leave out --epochs");
  }
  if (streams.shards() < config.trainer.ranks) {
    throw RunError(
        fmt::format("the data has {} for {} ranks, and a stream gives each rank whole "
                    "shards; give fewer --ranks, or leave out stream=1",
                    plural(streams.shards(), "shard"), config.trainer.ranks.value));
  }
  for (const Stage stage : {Stage::read, Stage::decode, Stage::augment}) {
    if (!knockouts.has(stage)) continue;
    throw RunError(
        "of a stream no samples are kept to be replayed, so that no stage can be left "
        "out; measure the same shards by their index, without stream=1");
  }
}

void add_streamed_facts(const Plan& plan, const Streams& streams,
                        const std::vector<std::int64_t>& samples, RunRecord& record) {
  const std::int64_t shards = streams.shards();
  const std::int64_t of_rank = divide_up(shards, plan.ranks);
  record.metrics.push_back({"data.shards", "1",
                            "of the streamed data set of a rank: more workers read nothing",
                            static_cast<double>(of_rank)});
  if (plan.workers > of_rank) {
    record.notes.push_back(fmt::format(
        "the data has {}{}: of {} {}, the others have nothing to read", plural(shards, "shard"),
        plan.ranks > 1 ? fmt::format(" for {} ranks", plan.ranks) : "",
        plural(plan.workers, "worker"),
        of_rank == 1 ? "one reads" : fmt::format("{} read", of_rank)));
  }
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  if (*least == 0) return;
  record.metrics.push_back(
      {"data.epoch_samples", "1", "of all ranks in the first epoch, which has ended",
       static_cast<double>(std::accumulate(samples.begin(), samples.end(), std::int64_t{0}))});
  if (*least < *most) record.notes.push_back(note_of_ranks(samples));
}

}  // namespace loaderscope::native
