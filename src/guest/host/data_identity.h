// What is wrong with the data that the processes of a job were given, from the fingerprints that
// they report.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
  static bool understands(const std::string& what);  // kind of message
  void know(const TrainerIdentity& trainer);
  // `trainer`: the process that the message is about.
  void hear(std::int64_t trainer, const nlohmann::json& message);

  // The counts that say that something is wrong, and what it is called in the program.
  struct Faults {
    std::vector<Metric> metrics;
    std::vector<Detail> details;
  };
  Faults faults() const;

 private:
  using Epoch = std::pair<std::int64_t, std::int64_t>;  // iterator, generation
  using Hashes = std::map<std::int64_t, std::string>;   // by worker
  using Settings = std::map<std::string, std::string>;  // of the data set, by name
  struct StreamEnd {
    std::map<std::int64_t, std::int64_t> samples;  // by worker
    std::int64_t workers = 0, declared = 0;
  };
  struct Trainer {
    TrainerIdentity identity;
    std::set<Epoch> epochs;  // of which something is kept: a job of days has many
    std::map<Epoch, std::string> orders, shuffled_orders;
    std::map<Epoch, Hashes> streams;
    std::map<Epoch, StreamEnd> stream_ends;
    std::map<std::string, std::map<Epoch, Hashes>> draws;  // by generator: "numpy"
    std::set<std::string> own_generators;                  // that the data set holds
    std::map<Epoch, Settings> settings;
    std::map<Epoch, std::map<std::int64_t, Settings>> settings_of_workers;
  };

  static void hear_stream_end(StreamEnd& end, const nlohmann::json& message);
  static void hear_draws(Trainer& told, const Epoch& epoch, const nlohmann::json& message);
  static void hear_settings(Trainer& told, const Epoch& epoch, const nlohmann::json& message);
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
