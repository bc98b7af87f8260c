// What a what-if calls the storage, in a run and as it is set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope {

struct FittedCosts;

struct StorageValue {
  std::string key;            // storage.latency
  std::optional<double> now;  // nothing: not known
  double then = 0;
  std::string unit;     // s, bytes/s, 1
  std::string meaning;  // of the word
  std::string basis;    // what `now` rests on, and what else of the run stays; "": nothing to say

  // "storage.latency 6.1 ms now -> 5 ms: ..."
  std::string sentence() const;
};

namespace model {

// Of those changes that set the storage; `costs` and `config` are those of the run.
std::vector<StorageValue> storage_values(const FittedCosts& costs, const RunConfig& config,
                                         const Changes& changes);

}  // namespace model
}  // namespace loaderscope
