// Facts of a measured DataLoader, as it described itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope::guest {

struct LoaderFacts {
  std::int32_t number = 0;  // number in the trainer's process, from 0
  std::int64_t num_workers = 0;
  std::int64_t prefetch_factor = 0;
  std::int64_t batch_size = 0;  // 0: unknown, as for a batch sampler of the user
  std::int64_t samples = 0;     // per epoch and rank; 0: not known
  std::int64_t batches = 0;     // per epoch and rank, if the samples are unknown; 0: unknown
  // True if it is not a DataLoader: only the request and arrival times of its batches are known.
  bool is_opaque = false;
  std::int64_t shards = 0;  // shards that divide a stream; 0: unknown
  bool pin_memory = false;
  bool persistent_workers = false;
  bool in_order = true;
  bool drop_last = false;
  bool shuffle = false;
  bool iterable = false;
  std::string mp_context = "fork";
  std::string dataset, sampler;  // the names of their classes
  std::string place;             // FILE:LINE that made it
  LoaderCall call;               // facts of that line; without a file if unknown
  // Packages that made it, the innermost first; packages that the class of its data set comes from.
  std::vector<std::string> made_by, data_of;

  bool operator==(const LoaderFacts&) const = default;

  // Number of workers that the guest can observe.
  std::int64_t seen_workers() const { return is_opaque ? 0 : num_workers; }
};

}  // namespace loaderscope::guest
