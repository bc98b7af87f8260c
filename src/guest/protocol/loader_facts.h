// What a measured DataLoader is, as it described itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loaderscope/run_config.h"

namespace loaderscope::guest {

struct LoaderFacts {
  std::int32_t number = 0;  // of the trainer's process, from 0
  std::int64_t num_workers = 0;
  std::int64_t prefetch_factor = 0;
  std::int64_t batch_size = 0;  // 0: not known, as it is of a batch sampler of the user's
  std::int64_t samples = 0;     // per epoch and rank; 0: not known
  std::int64_t batches = 0;     // likewise, where the samples are not known
  // It is no DataLoader: all that is known of its batches is when each was asked for and came.
  bool is_opaque = false;
  std::int64_t shards = 0;  // of a stream that is divided by them; 0: not known
  bool pin_memory = false;
  bool persistent_workers = false;
  bool in_order = true;
  bool drop_last = false;
  bool shuffle = false;
  bool iterable = false;
  std::string mp_context = "fork";
  std::string dataset, sampler;  // the names of their classes
  std::string place;             // FILE:LINE that made it
  // Packages that it was made through, the innermost first; and that the class of its data set is
  // from.
  std::vector<std::string> made_by, data_of;

  bool operator==(const LoaderFacts&) const = default;

  // Those that can be looked into.
  std::int64_t seen_workers() const { return is_opaque ? 0 : num_workers; }
};

}  // namespace loaderscope::guest
