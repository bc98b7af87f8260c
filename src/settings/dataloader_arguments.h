// Settings as arguments of PyTorch's DataLoader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope {

struct DataLoaderArgument {
  std::string_view setting, keyword;  // "num-workers", "num_workers"
};

// Returns "num_workers" for num-workers and for its alias workers. Returns "" for a setting that is
// no argument.
std::string_view dataloader_keyword(std::string_view setting);

// Returns pin-memory=true for memory=pin-thread. Returns other changes as they are.
Change as_dataloader_change(const Change& change);

// Returns the arguments that the user gave. pin-memory is given if --memory is.
std::vector<DataLoaderArgument> given_dataloader_arguments(const RunConfig& config);

}  // namespace loaderscope
