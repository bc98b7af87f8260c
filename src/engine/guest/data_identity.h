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

class DataIdentity {
 public:
  // A message of kind "order", "draws" or "stream"; `trainer` is the process that it is about.
  void hear(std::int64_t trainer, const nlohmann::json& message);

  // Sentences, and the counts behind them.
  struct Faults {
    std::vector<std::string> notes;
    std::vector<Metric> metrics;
  };
  Faults faults() const;

 private:
  using Epoch = std::pair<std::int64_t, std::int64_t>;  // iterator, generation
  struct Order {
    std::string hash;
    bool ascending;
  };
  using Hashes = std::map<std::int64_t, std::string>;  // by worker
  struct Trainer {
    std::map<Epoch, Order> orders;
    std::map<Epoch, Hashes> streams;
    std::map<std::string, std::map<Epoch, Hashes>> draws;  // by generator: "numpy"
  };

  std::int64_t repeated_orders() const;
  std::int64_t alike_ranks() const;

  std::map<std::int64_t, Trainer> trainers_;
};

}  // namespace loaderscope::guest
