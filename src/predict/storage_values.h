// Storage values of a what-if, in the run and as changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope {

struct FittedCosts;

struct StorageValue {
  std::string key;            // storage.latency
  std::optional<double> now;  // empty if unknown
  double then = 0;
  std::string unit;     // s, bytes/s, 1
  std::string meaning;  // meaning of the key
  std::string basis;    // source of `now`, and what stays of the run; "" if not needed

  // "storage.latency 6.1 ms now -> 5 ms: ..."
  std::string sentence() const;
};

namespace model {

// Returns the values of the changes that set the storage. `costs` and `config` are those of the
// run.
std::vector<StorageValue> storage_values(const FittedCosts& costs, const RunConfig& config,
                                         const Changes& changes);

}  // namespace model
}  // namespace loaderscope
