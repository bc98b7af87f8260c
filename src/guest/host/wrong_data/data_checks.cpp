#include "guest/host/wrong_data/data_checks.h"

#include <utility>

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMaxEpochs = 64;       // faults show in the first epochs
constexpr std::size_t kMaxGenerators = 256;  // generators of a data set

}  // namespace

void DataChecks::know(const DataReader& reader) { given_[reader.process].reader = reader; }

GivenData* DataChecks::kept(std::int64_t process, const DataEpoch& epoch) {
  GivenData& data = given_[process];
  if (data.epochs.size() == kMaxEpochs && !data.epochs.contains(epoch)) return nullptr;
  data.epochs.insert(epoch);
  return &data;
}

void DataChecks::receive_report(std::int64_t process, const OrderMessage& content) {
  GivenData* data = kept(process, content.epoch);
  if (data == nullptr) return;
  data->orders[content.epoch] = content.hash;
  if (content.shuffled) data->shuffled_orders[content.epoch] = content.hash;
}

void DataChecks::receive_report(std::int64_t process, const StreamMessage& content) {
  if (GivenData* data = kept(process, content.epoch))
    data->streams[content.epoch][content.worker] = content.hash;
}

void DataChecks::receive_report(std::int64_t process, const StreamEndMessage& content) {
  GivenData* data = kept(process, content.epoch);
  if (data == nullptr) return;
  GivenData::StreamEnd& end = data->stream_ends[content.epoch];
  end.samples[content.worker] = content.samples;
  end.workers = content.workers;
  end.declared = content.declared;
}

void DataChecks::receive_report(std::int64_t process, const DrawsMessage& content) {
  GivenData* data = kept(process, content.epoch);
  if (data == nullptr) return;
  for (const auto& [generator, hash] : content.hashes)
    data->draws[generator][content.epoch][content.worker] = hash;
  for (const std::string& own : content.own) {
    if (data->own_generators.size() < kMaxGenerators) data->own_generators.insert(own);
  }
}

void DataChecks::receive_report(std::int64_t process, const SettingsMessage& content) {
  GivenData* data = kept(process, content.epoch);
  if (data == nullptr) return;
  if (content.worker) {
    data->settings_of_workers[content.epoch][*content.worker] = content.values;
  } else {
    data->settings[content.epoch] = content.values;
  }
}

void DataChecks::receive_report(std::int64_t, const UnnamedMessage&) { unnamed_ = true; }

DataFaults DataChecks::faults() const {
  DataFaults faults;
  for (const auto check : {check_orders, check_streams, check_draws, check_settings})
    check(given_, faults);
  faults.add(unnamed_ ? 1 : 0, metric::data_unnamed_samples,
             "1: samples have no numbers that all processes know them by");
  return faults;
}

// Random numbers that workers drew, and settings of the data set that they have kept.

namespace {

// Epochs in which a worker draws what it drew in an earlier one; of the worst worker.
template <class ByEpoch>
std::int64_t most_repeated_by_worker(const ByEpoch& epochs) {
  std::map<std::int64_t, std::map<typename ByEpoch::key_type, std::string>> worker_hashes;
  for (const auto& [epoch, hashes] : epochs) {
    for (const auto& [worker, hash] : hashes) worker_hashes[worker][epoch] = hash;
  }
  return most_repeated(worker_hashes);
}

// Returns the settings that the trainer has changed since its first epoch, and that a worker still
// has in the old state.
std::set<std::string> stale_settings(const GivenData& data) {
  std::set<std::string> stale;
  for (const auto& [epoch, worker_settings] : data.settings_of_workers) {
    const auto first = data.settings.find({epoch.iterator, 0});
    const auto now = data.settings.find(epoch);
    if (first == data.settings.end() || now == data.settings.end()) continue;
    for (const auto& [name, was] : first->second) {
      const auto is = now->second.find(name);
      if (is == now->second.end() || is->second == was) continue;
      for (const auto& [worker, settings] : worker_settings) {
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

// Samples that were delivered, and their order.

namespace {

constexpr double kNearly = 0.95;  // share of the samples of one full copy of the data per worker

std::int64_t repeated_orders(const GivenByProcess& given) {
  std::int64_t most = 0;
  for (const auto& [process, data] : given) most = std::max(most, repeated(data.shuffled_orders));
  return most;
}

// Processes without a rank may well be jobs of their own.
std::int64_t alike_ranks(const GivenByProcess& given) {
  std::map<DataEpoch, std::map<std::int32_t, std::string>> orders;
  std::map<std::pair<DataEpoch, std::int64_t>, std::map<std::int32_t, std::string>> streams;
  for (const auto& [process, data] : given) {
    const std::int32_t rank = data.reader.rank;
    if (rank < 0) continue;
    for (const auto& [epoch, hash] : data.orders) orders[epoch][rank] = hash;
    for (const auto& [epoch, hashes] : data.streams) {
      for (const auto& [worker, hash] : hashes) streams[{epoch, worker}][rank] = hash;
    }
  }
  return std::max(most_repeated(orders), most_repeated(streams));
}

// Every worker gave all of the data.
bool is_copied(const GivenData::StreamEnd& end) {
  if (end.workers < 2 || end.declared == 0 || std::ssize(end.samples) < end.workers) return false;
  std::int64_t sum = 0;
  for (const auto& [worker, samples] : end.samples) sum += samples;
  return static_cast<double>(sum) >= kNearly * static_cast<double>(end.workers * end.declared);
}

// Returns the epochs in which a worker that stays alive had nothing left to deliver.
std::int64_t exhausted_epochs(const GivenData& data) {
  std::int64_t exhausted = 0;
  for (const auto& [epoch, end] : data.stream_ends) {
    const auto first = data.stream_ends.find({epoch.iterator, 0});
    if (first == data.stream_ends.end()) continue;
    exhausted += std::any_of(end.samples.begin(), end.samples.end(), [&](const auto& worker) {
      const auto gave = first->second.samples.find(worker.first);
      return worker.second == 0 && gave != first->second.samples.end() && gave->second > 0;
    });
  }
  return exhausted;
}

}  // namespace

void check_orders(const GivenByProcess& given, DataFaults& faults) {
  faults.add(repeated_orders(given), metric::data_repeated_orders,
             "epochs in the shuffled order of an earlier one");
  faults.add(alike_ranks(given), metric::data_alike_ranks,
             "ranks that were given the samples of another rank");
}

void check_streams(const GivenByProcess& given, DataFaults& faults) {
  std::int64_t alike = 0, exhausted = 0;
  bool copied = false;
  for (const auto& [process, data] : given) {
    alike = std::max(alike, most_repeated(data.streams));
    exhausted = std::max(exhausted, exhausted_epochs(data));
    for (const auto& [epoch, end] : data.stream_ends) copied |= is_copied(end);
  }
  faults.add(alike, metric::data_alike_streams,
             "workers whose stream begins with the same samples as another worker's");
  faults.add(copied ? 1 : 0, metric::data_copied_streams,
             "1: an epoch had as many samples as if every worker gave all of the data");
  faults.add(exhausted, metric::data_exhausted_streams,
             "epochs in which a persistent worker's stream had nothing left");
}

}  // namespace loaderscope::guest
