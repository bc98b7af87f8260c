#include "guest/host/epoch_lengths.h"

#include <fmt/format.h>

#include <algorithm>

namespace loaderscope::guest {

std::int64_t batches_in(const LoaderFacts& loader) {
  if (loader.batches > 0 || loader.batch_size <= 0) return loader.batches;
  const std::int64_t whole = loader.samples / loader.batch_size;
  const bool has_rest = loader.samples % loader.batch_size != 0;
  return whole + (has_rest && !loader.drop_last ? 1 : 0);
}

std::string sentence_of(const std::vector<RankLength>& lengths) {
  if (lengths.empty()) return "";
  const auto [least, most] =
      std::minmax_element(lengths.begin(), lengths.end(),
                          [](const auto& a, const auto& b) { return a.batches < b.batches; });
  if (least->batches == most->batches) return "";
  return fmt::format(
      "rank {} has {} in an epoch and rank {} has {}: where steps need all ranks, as with "
      "DistributedDataParallel, the epoch's end will hang; give all ranks as many "
      "(DistributedSampler, drop_last=True), or wrap the loop in torch.distributed.algorithms.Join",
      least->rank, plural(least->batches, "batch"), most->rank, most->batches);
}

std::optional<std::string> EpochLengths::look(const TrainingProcesses& training, Nanos now) {
  constexpr Nanos kEvery = kSecond / 2;
  if (is_told_ || now < next_look_) return std::nullopt;
  next_look_ = now + kEvery;
  std::vector<RankLength> lengths;
  for (const auto& trainer : training.trainers()) {
    const LoaderHistory* history = trainer.process->measured();
    if (trainer.rank < 0 || history == nullptr || !history->with_gradients()) return std::nullopt;
    lengths.push_back({trainer.rank, batches_in(history->loader())});
    if (lengths.back().batches == 0) return std::nullopt;
  }
  std::string sentence = sentence_of(lengths);
  is_told_ = !sentence.empty();
  return is_told_ ? std::optional(std::move(sentence)) : std::nullopt;
}

}  // namespace loaderscope::guest
