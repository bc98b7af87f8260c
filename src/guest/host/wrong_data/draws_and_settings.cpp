// Random numbers that workers drew, and settings of the data set that they have kept.
#include "guest/host/wrong_data/given_data.h"

namespace loaderscope::guest {
namespace {

// Epochs in which a worker draws what it drew in an earlier one; of the worst worker.
template <class ByEpoch>
std::int64_t most_repeated_by_worker(const ByEpoch& epochs) {
  std::map<std::int64_t, std::map<typename ByEpoch::key_type, std::string>> by_worker;
  for (const auto& [epoch, hashes] : epochs) {
    for (const auto& [worker, hash] : hashes) by_worker[worker][epoch] = hash;
  }
  return most_repeated(by_worker);
}

// Returns the settings that the trainer has changed since its first epoch, and that a worker still
// has in the old state.
std::set<std::string> stale_settings(const GivenData& data) {
  std::set<std::string> stale;
  for (const auto& [epoch, of_workers] : data.settings_of_workers) {
    const auto first = data.settings.find({epoch.iterator, 0});
    const auto now = data.settings.find(epoch);
    if (first == data.settings.end() || now == data.settings.end()) continue;
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

}  // namespace

void check_draws(const GivenByProcess& given, DataFaults& faults) {
  std::map<std::string, std::int64_t> workers, epochs;  // counts by generator
  std::set<std::string> own;
  for (const auto& [process, data] : given) {
    own.insert(data.own_generators.begin(), data.own_generators.end());
    for (const auto& [generator, by_epoch] : data.draws) {
      workers[generator] = std::max(workers[generator], most_repeated(by_epoch));
      if (data.reader.every_epoch_differs)
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
    faults.add(most, name, help);
  };
  add_all(workers, metric::data_alike_seeds,
          "workers that draw the random numbers of another worker");
  add_all(epochs, metric::data_repeated_seeds,
          "epochs in which a worker draws the random numbers of an earlier one");
}

void check_settings(const GivenByProcess& given, DataFaults& faults) {
  std::set<std::string> stale;
  for (const auto& [process, data] : given) stale.merge(stale_settings(data));
  for (const std::string& name : stale)
    faults.details.push_back({metric::data_stale_settings, "dataset." + name});
  faults.add(static_cast<std::int64_t>(stale.size()), metric::data_stale_settings,
             "attributes of the data set that the trainer changes and persistent workers keep");
}

}  // namespace loaderscope::guest
