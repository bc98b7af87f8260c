// Parts of the command line that sweep and tune share.
#pragma once

#include <functional>

#include "cli/command_flags.h"
#include "job/machine_profile.h"
#include "loaderscope/engine.h"
#include "loaderscope/experiment.h"
#include "machine/machine_load.h"

namespace loaderscope {

// Refuses what is for a single run.
void refuse_flags_of_run(const RunConfig& given);

double parse_share(std::string_view text);  // "3%" or 0.03; throws ValueError

// Runs cases in this process, with progress on standard error.
class ExperimentRunner {
 public:
  // `profile` is the value of --machine. `save` writes the results so far after each run; it may be
  // empty.
  ExperimentRunner(const MachineFacts& machine, std::string profile,
                   std::function<void(const Experiment&)> save);

  const ExperimentContext& context() const { return context_; }
  // Adds notes about the machine and the time between the cases. `with_others` adds the CPU time of
  // other programs, for answers that do not contain it.
  void add_notes(Experiment& experiment, bool with_others) const;
  ExitCode exit_code(const Experiment& experiment) const;

 private:
  RunRecord run(const RunConfig& case_config);
  void look_at_ceilings(RunRecord& record);
  RunRecord run_or_show(const RunConfig& config, const RunContext& context,
                        const std::string& output);

  MachineFacts machine_;
  const std::atomic<int>& stop_signal_;
  std::function<void(const Experiment&)> save_;
  ExperimentContext context_;
  std::optional<MachineLoad> load_;
  std::vector<Bytes> resident_after_;  // each run
  std::string profile_;
  double fastest_ = 0;    // samples/s of a run
  std::string ceilings_;  // shares of the ceilings that the run reached
  std::vector<std::string> profile_notes_;
  double left_shared_ = 0;  // bytes that programs left in /dev/shm
  bool shown_ = false;      // the output of a failed program was printed
};

}  // namespace loaderscope
