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
  std::string name;                  // name of its side, for messages
  std::string binary;                // "": this program
  std::string folder;                // working folder; "": the folder of this process
  std::vector<std::string> words;    // flags of `run`
  std::vector<std::string> program;  // program after the flags; empty: none
  Variables variables;               // added to the environment
};

// A run that was started.
class StartedRun {
 public:
  enum class Gate : std::uint8_t {
    none,
    // Starts, imports the program of its --loader, and waits before it makes anything, while other
    // runs are measured.
    waits,
  };
  // Starts the run. Its files are below `place`, which no other run at the same time may use.
  StartedRun(FreshRun run, const std::string& place, Nanos patience, std::function<bool()> stopped,
             Gate gate = Gate::none);

  bool waits_or_has_ended();
  void release();
  // Waits for the run. After a stop, asks the run to end, and returns the part that it measured.
  // Throws RunError, and UsageError if the run rejects its flags.
  RunRecord record();

 private:
  Nanos held_up() const;

  std::string name_, json_, gate_;
  Nanos released_at_ = 0;  // time of the release from the gate; 0: the run did not wait
  Nanos patience_;
  std::function<bool()> stopped_;
  StartedTool tool_;
};

inline RunRecord run_fresh(const FreshRun& run, const std::string& place, Nanos patience,
                           const std::function<bool()>& stopped) {
  return StartedRun(run, place, patience, stopped).record();
}

}  // namespace loaderscope
