// Runs of loaderscope in processes of their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loaderscope/run_record.h"
#include "machine/child.h"

namespace loaderscope {

struct FreshRun {
  std::string name;                  // of its arm, for messages
  std::string binary;                // "": this program
  std::string folder;                // where it works; "": where we do
  std::vector<std::string> words;    // flags of `run`
  std::vector<std::string> program;  // behind them; empty: none
  Variables variables;               // added to the environment
};

// Its record, by way of a file below `place`. Stopped, it is asked to end and its part comes back.
// Throws RunError, and UsageError where the run refuses its words.
RunRecord run_fresh(const FreshRun& run, const std::string& place, Nanos patience,
                    const std::function<bool()>& stopped);

}  // namespace loaderscope
