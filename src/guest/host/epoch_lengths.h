// Ranks whose epochs differ in length, told as soon as it is known: a step that needs all ranks
// waits at the end of the shortest, until it is given up after many minutes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guest/host/training_processes.h"
#include "guest/protocol/loader_facts.h"

namespace loaderscope::guest {

// Of an epoch; 0: not known.
std::int64_t batches_in(const LoaderFacts& loader);

struct RankLength {
  std::int32_t rank;
  std::int64_t batches;
};
// "" where they are equal.
std::string sentence_of(const std::vector<RankLength>& lengths);

class EpochLengths {
 public:
  // Once, as soon as each rank has trained a batch and says how many it has.
  std::optional<std::string> look(const TrainingProcesses& training, Nanos now);

 private:
  Nanos next_look_ = 0;
  bool is_told_ = false;
};

}  // namespace loaderscope::guest
