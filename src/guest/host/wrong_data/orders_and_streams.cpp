// Samples that were delivered, and their order.
#include "guest/host/wrong_data/given_data.h"

#include <utility>

namespace loaderscope::guest {
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
