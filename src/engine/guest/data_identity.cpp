#include "engine/guest/data_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace loaderscope::guest {
namespace {

// How many have what another one before them has.
template <class Hashes>
std::int64_t repeated(const Hashes& hashes) {
  std::set<std::string> seen;
  for (const auto& [key, hash] : hashes) seen.insert(hash);
  return static_cast<std::int64_t>(hashes.size() - seen.size());
}

// In the worst epoch.
template <class ByEpoch>
std::int64_t most_repeated(const ByEpoch& epochs) {
  std::int64_t most = 0;
  for (const auto& [epoch, hashes] : epochs) most = std::max(most, repeated(hashes));
  return most;
}

}  // namespace

void DataIdentity::hear(std::int64_t trainer, const nlohmann::json& message) {
  Trainer& told = trainers_[trainer];
  const Epoch epoch = {message.value("iterator", std::int64_t{0}),
                       message.value("generation", std::int64_t{0})};
  const auto worker = message.value("worker", std::int64_t{0});
  const std::string what = message.value("what", "");
  if (what == "order") {
    told.orders[epoch] = {message.value("hash", ""), message.value("ascending", false)};
  } else if (what == "stream") {
    told.streams[epoch][worker] = message.value("hash", "");
  } else if (what == "draws") {
    for (const char* generator : {"python", "numpy", "torch"}) {
      if (message.contains(generator))
        told.draws[generator][epoch][worker] = message.value(generator, "");
    }
  }
}

std::int64_t DataIdentity::repeated_orders() const {
  std::int64_t most = 0;
  for (const auto& [process, trainer] : trainers_) {
    std::map<Epoch, std::string> shuffled;
    for (const auto& [epoch, order] : trainer.orders) {
      if (!order.ascending) shuffled[epoch] = order.hash;
    }
    most = std::max(most, repeated(shuffled));
  }
  return most;
}

std::int64_t DataIdentity::alike_ranks() const {
  std::map<Epoch, std::map<std::int64_t, std::string>> by_epoch;
  for (const auto& [process, trainer] : trainers_) {
    for (const auto& [epoch, order] : trainer.orders) by_epoch[epoch][process] = order.hash;
  }
  return most_repeated(by_epoch);
}

DataIdentity::Faults DataIdentity::faults() const {
  Faults faults;
  const auto add = [&](std::int64_t count, const std::string& name, const std::string& help,
                       const std::string& sentence) {
    if (count == 0) return;
    faults.metrics.push_back({name, "1", help, static_cast<double>(count)});
    faults.notes.push_back("wrong data: " + sentence);
  };
  const std::int64_t epochs = repeated_orders(), ranks = alike_ranks();
  add(epochs, "data.repeated_orders", "epochs in the shuffled order of an earlier one",
      fmt::format("{} in the order of an earlier epoch; call sampler.set_epoch(epoch) before each "
                  "one, or seed the generator once only",
                  epochs == 1 ? "1 epoch was" : fmt::format("{} epochs were", epochs)));
  add(ranks, "data.alike_ranks", "ranks that were given the samples of another rank",
      fmt::format("{} given the same samples as another rank; use a DistributedSampler, or split "
                  "the data by rank",
                  ranks == 1 ? "1 rank was" : fmt::format("{} ranks were", ranks)));
  std::int64_t streams = 0;
  std::map<std::string, std::int64_t> draws = {{"python", 0}, {"numpy", 0}, {"torch", 0}};
  for (const auto& [process, trainer] : trainers_) {
    streams = std::max(streams, most_repeated(trainer.streams));
    for (const auto& [generator, by_epoch] : trainer.draws)
      draws[generator] = std::max(draws[generator], most_repeated(by_epoch));
  }
  add(streams, "data.alike_streams", "workers whose stream begins like another worker's",
      fmt::format("{} streams the same samples as another worker; split the stream by "
                  "torch.utils.data.get_worker_info() in __iter__",
                  streams == 1 ? "1 worker" : fmt::format("each of {} workers", streams)));
  for (const auto& [generator, workers] : draws) {
    add(workers, "data.alike_" + generator + "_seeds",
        "workers that draw the same random numbers as another one, from " + generator,
        fmt::format("{} the same random numbers as another worker (generator of {}); seed it with "
                    "torch.initial_seed() in worker_init_fn",
                    workers == 1 ? "1 worker draws" : fmt::format("{} workers draw", workers),
                    generator));
  }
  return faults;
}

}  // namespace loaderscope::guest
