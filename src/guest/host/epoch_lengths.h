// Warning about ranks whose epochs differ in length, given as soon as the lengths are known. A step
// that needs all ranks would wait at the end of the shortest epoch until a timeout of many minutes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guest/host/training_processes.h"
#include "guest/protocol/loader_facts.h"

namespace loaderscope::guest {

// Returns the batches per epoch of a loader, or 0 if unknown.
std::int64_t batches_in(const LoaderFacts& loader);

struct RankLength {
  std::int32_t rank;
  std::int64_t batches;
};
// Returns "" if all lengths are equal.
std::string sentence_of(const std::vector<RankLength>& lengths);

class EpochLengths {
 public:
  // Returns a sentence once, as soon as each rank has trained a batch and has reported its length.
  std::optional<std::string> look(const TrainingProcesses& training, Nanos now);

 private:
  Nanos next_look_ = 0;
  bool is_told_ = false;
};

}  // namespace loaderscope::guest
