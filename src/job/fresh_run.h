// Runs of loaderscope in processes of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "loaderscope/run_record.h"
#include "machine/child_process.h"
#include "machine/tool_run.h"

namespace loaderscope {

struct FreshRun {
  std::string name;                  // of its arm, for messages
  std::string binary;                // "": this program
  std::string folder;                // where it works; "": where we do
  std::vector<std::string> words;    // flags of `run`
  std::vector<std::string> program;  // behind them; empty: none
  Variables variables;               // added to the environment
};

// One of them, on its way.
class StartedRun {
 public:
  enum class Gate : std::uint8_t {
    none,
    // It starts, imports the program of its --loader, and makes nothing before it is let go: others
    // are measured meanwhile.
    waits,
  };
  // By way of files below `place`, which others that run beside it have no part in.
  StartedRun(FreshRun run, const std::string& place, Nanos patience, std::function<bool()> stopped,
             Gate gate = Gate::none);

  bool waits_or_has_ended();
  void let_go();
  // Stopped, it is asked to end and its part comes back. Throws RunError, and UsageError where the
  // run refuses its words.
  RunRecord record();

 private:
  Nanos held_up() const;

  std::string name_, json_, gate_;
  Nanos let_go_at_ = 0;  // 0: it was not held up
  Nanos patience_;
  std::function<bool()> stopped_;
  StartedTool tool_;
};

inline RunRecord run_fresh(const FreshRun& run, const std::string& place, Nanos patience,
                           const std::function<bool()>& stopped) {
  return StartedRun(run, place, patience, stopped).record();
}

}  // namespace loaderscope
