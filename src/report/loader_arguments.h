// The Fix of a run as arguments of the call that makes the program's loader.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

struct LoaderArguments {
  // Names and values as the program writes them: ("dataloader_num_workers", "8"), in the order of
  // the Fix.
  std::vector<std::pair<std::string, std::string>> list;
  std::string missing;  // reason why the Fix is no such arguments; "" if it is

  std::string text() const;  // "num_workers=8, persistent_workers=True"
};

// The arguments are the settings that a trial of the Fix runs with.
LoaderArguments arguments_of_fix(const RunRecord& record, const Finding& fix);

}  // namespace loaderscope
