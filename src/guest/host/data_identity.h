// What is wrong with the data that the processes of a job were given, from the fingerprints that
// they report.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "guest/host/message_contents.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

// Of a process that trains.
struct TrainerIdentity {
  std::int64_t process = 0;
  std::int32_t rank = -1;            // -1: it has none
  bool every_epoch_differs = false;  // its loader shuffles, or gives a stream
};

class DataIdentity {
 public:
  void know(const TrainerIdentity& trainer);
  // `trainer`: the process that the message is about.
  void hear(std::int64_t trainer, const OrderMessage& told);
  void hear(std::int64_t trainer, const StreamMessage& told);
  void hear(std::int64_t trainer, const StreamEndMessage& told);
  void hear(std::int64_t trainer, const DrawsMessage& told);
  void hear(std::int64_t trainer, const SettingsMessage& told);
  void hear(std::int64_t trainer, const UnnamedMessage& told);

  // The counts that say that something is wrong, and what it is called in the program.
  struct Faults {
    std::vector<Metric> metrics;
    std::vector<Detail> details;
  };
  Faults faults() const;

 private:
  using Hashes = std::map<std::int64_t, std::string>;  // by worker
  struct StreamEnd {
    std::map<std::int64_t, std::int64_t> samples;  // by worker
    std::int64_t workers = 0, declared = 0;
  };
  struct Trainer {
    TrainerIdentity identity;
    std::set<DataEpoch> epochs;  // of which something is kept: a job of days has many
    std::map<DataEpoch, std::string> orders, shuffled_orders;
    std::map<DataEpoch, Hashes> streams;
    std::map<DataEpoch, StreamEnd> stream_ends;
    std::map<std::string, std::map<DataEpoch, Hashes>> draws;  // by generator: "numpy"
    std::set<std::string> own_generators;                      // that the data set holds
    std::map<DataEpoch, DatasetSettings> settings;
    std::map<DataEpoch, std::map<std::int64_t, DatasetSettings>> settings_of_workers;
  };

  // Null: more is not kept of the process.
  Trainer* kept(std::int64_t trainer, const DataEpoch& epoch);
  static bool is_copied(const StreamEnd& end);
  static std::int64_t exhausted_epochs(const Trainer& trainer);
  static std::set<std::string> stale_settings(const Trainer& trainer);
  std::int64_t repeated_orders() const;
  std::int64_t alike_ranks() const;
  void add_streams(Faults& faults) const;
  void add_draws(Faults& faults) const;
  void add_kept_state(Faults& faults) const;

  std::map<std::int64_t, Trainer> trainers_;  // by process
  bool unnamed_ = false;
};

}  // namespace loaderscope::guest
