// Checks for wrong data, with the reports of a job's processes about their data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "guest/host/message_contents.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

// Data that the processes of a job received, as the fingerprints that they report, and the checks
// of it. Each check adds the counts of faults and their names in the program.

// One training process that reads data.
struct DataReader {
  std::int64_t process = 0;
  std::int32_t rank = -1;            // -1: no rank
  bool every_epoch_differs = false;  // the loader shuffles, or delivers a stream
};

struct GivenData {
  using Hashes = std::map<std::int64_t, std::string>;  // hash by worker
  struct StreamEnd {
    std::map<std::int64_t, std::int64_t> samples;  // samples by worker
    std::int64_t workers = 0, declared = 0;
  };

  DataReader reader;
  std::set<DataEpoch> epochs;  // epochs with kept data, bounded because a job of days has many
  std::map<DataEpoch, std::string> orders, shuffled_orders;
  std::map<DataEpoch, Hashes> streams;
  std::map<DataEpoch, StreamEnd> stream_ends;
  std::map<std::string, std::map<DataEpoch, Hashes>> draws;  // draws by generator: "numpy"
  std::set<std::string> own_generators;                      // generators that the data set holds
  std::map<DataEpoch, DatasetSettings> settings;
  std::map<DataEpoch, std::map<std::int64_t, DatasetSettings>> settings_of_workers;
};
using GivenByProcess = std::map<std::int64_t, GivenData>;

struct DataFaults {
  std::vector<Metric> metrics;
  std::vector<Detail> details;

  void add(std::int64_t count, const char* name, const char* help) {
    if (count > 0) metrics.push_back(make_metric(name, help, static_cast<double>(count)));
  }
};

void check_orders(const GivenByProcess& given, DataFaults& faults);
void check_streams(const GivenByProcess& given, DataFaults& faults);
void check_draws(const GivenByProcess& given, DataFaults& faults);
void check_settings(const GivenByProcess& given, DataFaults& faults);

// Returns the number of entries that repeat an earlier one.
template <class Hashes>
std::int64_t repeated(const Hashes& hashes) {
  std::set<std::string> seen;
  for (const auto& [key, hash] : hashes) seen.insert(hash);
  return static_cast<std::int64_t>(hashes.size() - seen.size());
}

// Returns the number of repetitions in the worst epoch.
template <class ByEpoch>
std::int64_t most_repeated(const ByEpoch& epochs) {
  std::int64_t most = 0;
  for (const auto& [epoch, hashes] : epochs) most = std::max(most, repeated(hashes));
  return most;
}

class DataChecks {
 public:
  void know(const DataReader& reader);
  // `process`: the training process of the message.
  void receive_report(std::int64_t process, const OrderMessage& content);
  void receive_report(std::int64_t process, const StreamMessage& content);
  void receive_report(std::int64_t process, const StreamEndMessage& content);
  void receive_report(std::int64_t process, const DrawsMessage& content);
  void receive_report(std::int64_t process, const SettingsMessage& content);
  void receive_report(std::int64_t process, const UnnamedMessage& content);

  DataFaults faults() const;

 private:
  // Returns null if no more data is kept for the process.
  GivenData* kept(std::int64_t process, const DataEpoch& epoch);

  GivenByProcess given_;
  bool unnamed_ = false;
};

}  // namespace loaderscope::guest
