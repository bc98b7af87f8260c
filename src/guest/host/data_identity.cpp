#include "guest/host/data_identity.h"

#include <algorithm>

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

// Epochs in which a worker draws what it drew in an earlier one; of the worst worker.
template <class ByEpoch>
std::int64_t most_repeated_by_worker(const ByEpoch& epochs) {
  std::map<std::int64_t, std::map<typename ByEpoch::key_type, std::string>> by_worker;
  for (const auto& [epoch, hashes] : epochs) {
    for (const auto& [worker, hash] : hashes) by_worker[worker][epoch] = hash;
  }
  return most_repeated(by_worker);
}

void add(DataIdentity::Faults& faults, std::int64_t count, const char* name, const char* help) {
  if (count > 0) faults.metrics.push_back({name, "1", help, static_cast<double>(count)});
}

constexpr std::size_t kMostEpochs = 64;  // what is wrong shows in the first ones
constexpr std::size_t kMostNames = 256;  // in a data set
constexpr double kNearly = 0.95;         // of as many samples as copies of the data have

}  // namespace

void DataIdentity::know(const TrainerIdentity& trainer) {
  trainers_[trainer.process].identity = trainer;
}

DataIdentity::Trainer* DataIdentity::kept(std::int64_t trainer, const DataEpoch& epoch) {
  Trainer& of_trainer = trainers_[trainer];
  if (of_trainer.epochs.size() == kMostEpochs && !of_trainer.epochs.contains(epoch)) return nullptr;
  of_trainer.epochs.insert(epoch);
  return &of_trainer;
}

void DataIdentity::hear(std::int64_t trainer, const OrderMessage& told) {
  Trainer* of_trainer = kept(trainer, told.epoch);
  if (of_trainer == nullptr) return;
  of_trainer->orders[told.epoch] = told.hash;
  if (told.shuffled) of_trainer->shuffled_orders[told.epoch] = told.hash;
}

void DataIdentity::hear(std::int64_t trainer, const StreamMessage& told) {
  if (Trainer* of_trainer = kept(trainer, told.epoch))
    of_trainer->streams[told.epoch][told.worker] = told.hash;
}

void DataIdentity::hear(std::int64_t trainer, const StreamEndMessage& told) {
  Trainer* of_trainer = kept(trainer, told.epoch);
  if (of_trainer == nullptr) return;
  StreamEnd& end = of_trainer->stream_ends[told.epoch];
  end.samples[told.worker] = told.samples;
  end.workers = told.workers;
  end.declared = told.declared;
}

void DataIdentity::hear(std::int64_t trainer, const DrawsMessage& told) {
  Trainer* of_trainer = kept(trainer, told.epoch);
  if (of_trainer == nullptr) return;
  for (const auto& [generator, hash] : told.hashes)
    of_trainer->draws[generator][told.epoch][told.worker] = hash;
  for (const std::string& own : told.own) {
    if (of_trainer->own_generators.size() < kMostNames) of_trainer->own_generators.insert(own);
  }
}

void DataIdentity::hear(std::int64_t trainer, const SettingsMessage& told) {
  Trainer* of_trainer = kept(trainer, told.epoch);
  if (of_trainer == nullptr) return;
  if (told.worker) {
    of_trainer->settings_of_workers[told.epoch][*told.worker] = told.values;
  } else {
    of_trainer->settings[told.epoch] = told.values;
  }
}

void DataIdentity::hear(std::int64_t, const UnnamedMessage&) { unnamed_ = true; }

std::int64_t DataIdentity::repeated_orders() const {
  std::int64_t most = 0;
  for (const auto& [process, trainer] : trainers_)
    most = std::max(most, repeated(trainer.shuffled_orders));
  return most;
}

// Processes without a rank may well be jobs of their own.
std::int64_t DataIdentity::alike_ranks() const {
  std::map<DataEpoch, std::map<std::int32_t, std::string>> orders;
  std::map<std::pair<DataEpoch, std::int64_t>, std::map<std::int32_t, std::string>> streams;
  for (const auto& [process, trainer] : trainers_) {
    const std::int32_t rank = trainer.identity.rank;
    if (rank < 0) continue;
    for (const auto& [epoch, hash] : trainer.orders) orders[epoch][rank] = hash;
    for (const auto& [epoch, hashes] : trainer.streams) {
      for (const auto& [worker, hash] : hashes) streams[{epoch, worker}][rank] = hash;
    }
  }
  return std::max(most_repeated(orders), most_repeated(streams));
}

// Every worker gave all of the data.
bool DataIdentity::is_copied(const StreamEnd& end) {
  if (end.workers < 2 || end.declared == 0 || std::ssize(end.samples) < end.workers) return false;
  std::int64_t sum = 0;
  for (const auto& [worker, samples] : end.samples) sum += samples;
  return static_cast<double>(sum) >= kNearly * static_cast<double>(end.workers * end.declared);
}

// In which a worker that lives on had nothing left to give.
std::int64_t DataIdentity::exhausted_epochs(const Trainer& trainer) {
  std::int64_t exhausted = 0;
  for (const auto& [epoch, end] : trainer.stream_ends) {
    const auto first = trainer.stream_ends.find({epoch.iterator, 0});
    if (first == trainer.stream_ends.end()) continue;
    exhausted += std::any_of(end.samples.begin(), end.samples.end(), [&](const auto& worker) {
      const auto gave = first->second.samples.find(worker.first);
      return worker.second == 0 && gave != first->second.samples.end() && gave->second > 0;
    });
  }
  return exhausted;
}

void DataIdentity::add_streams(Faults& faults) const {
  std::int64_t alike = 0, exhausted = 0;
  bool copied = false;
  for (const auto& [process, trainer] : trainers_) {
    alike = std::max(alike, most_repeated(trainer.streams));
    exhausted = std::max(exhausted, exhausted_epochs(trainer));
    for (const auto& [epoch, end] : trainer.stream_ends) copied |= is_copied(end);
  }
  add(faults, alike, "data.alike_streams",
      "workers whose stream begins with the same samples as another worker's");
  add(faults, copied ? 1 : 0, "data.copied_streams",
      "1: an epoch had as many samples as if every worker gave all of the data");
  add(faults, exhausted, "data.exhausted_streams",
      "epochs in which a persistent worker's stream had nothing left");
}

void DataIdentity::add_draws(Faults& faults) const {
  std::map<std::string, std::int64_t> workers, epochs;  // by generator
  std::set<std::string> own;
  for (const auto& [process, trainer] : trainers_) {
    own.insert(trainer.own_generators.begin(), trainer.own_generators.end());
    for (const auto& [generator, by_epoch] : trainer.draws) {
      workers[generator] = std::max(workers[generator], most_repeated(by_epoch));
      if (trainer.identity.every_epoch_differs)
        epochs[generator] = std::max(epochs[generator], most_repeated_by_worker(by_epoch));
    }
  }
  const auto add_all = [&](const std::map<std::string, std::int64_t>& counts, const char* name,
                           const char* help) {
    std::int64_t most = 0;
    for (const auto& [generator, count] : counts) {
      most = std::max(most, count);
      if (count == 0) continue;
      if (generator != kOwnGenerators) faults.details.push_back({name, generator});
      for (const std::string& one : own) {
        if (generator == kOwnGenerators) faults.details.push_back({name, "dataset." + one});
      }
    }
    add(faults, most, name, help);
  };
  add_all(workers, "data.alike_seeds", "workers that draw the random numbers of another worker");
  add_all(epochs, "data.repeated_seeds",
          "epochs in which a worker draws the random numbers of an earlier one");
}

// What the trainer has set anew since its first epoch, and a worker still has as it was then.
std::set<std::string> DataIdentity::stale_settings(const Trainer& trainer) {
  std::set<std::string> stale;
  for (const auto& [epoch, of_workers] : trainer.settings_of_workers) {
    const auto first = trainer.settings.find({epoch.iterator, 0});
    const auto now = trainer.settings.find(epoch);
    if (first == trainer.settings.end() || now == trainer.settings.end()) continue;
    for (const auto& [name, was] : first->second) {
      const auto is = now->second.find(name);
      if (is == now->second.end() || is->second == was) continue;
      for (const auto& [worker, settings] : of_workers) {
        const auto kept = settings.find(name);
        if (kept != settings.end() && kept->second == was) stale.insert(name);
      }
    }
  }
  return stale;
}

void DataIdentity::add_kept_state(Faults& faults) const {
  std::set<std::string> stale;
  for (const auto& [process, trainer] : trainers_) stale.merge(stale_settings(trainer));
  for (const std::string& name : stale)
    faults.details.push_back({"data.stale_settings", "dataset." + name});
  add(faults, static_cast<std::int64_t>(stale.size()), "data.stale_settings",
      "attributes of the data set that the trainer changes and persistent workers keep");
}

DataIdentity::Faults DataIdentity::faults() const {
  Faults faults;
  add(faults, repeated_orders(), "data.repeated_orders",
      "epochs in the shuffled order of an earlier one");
  add(faults, alike_ranks(), "data.alike_ranks",
      "ranks that were given the samples of another rank");
  add_streams(faults);
  add_draws(faults);
  add_kept_state(faults);
  add(faults, unnamed_ ? 1 : 0, "data.unnamed_samples",
      "1: samples have no numbers that all processes know them by");
  return faults;
}

}  // namespace loaderscope::guest
