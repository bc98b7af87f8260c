// Runs somebody else's training program and measures the DataLoader in it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/guest/belongings.h"
#include "engine/guest/child.h"
#include "engine/guest/consumption.h"
#include "engine/guest/data_identity.h"
#include "engine/guest/hook_cost.h"
#include "engine/guest/host.h"
#include "engine/guest/program_output.h"
#include "engine/guest/training.h"
#include "loaderscope/engine.h"

namespace loaderscope::guest {

class Job {
 public:
  // `command` runs in the current folder. Both outlive the job.
  Job(const RunConfig& config, const EngineContext& context,
      const std::vector<std::string>& command);

  // Until the window is over, the program has ended or the user asks to stop; all its processes
  // have ended then. Throws RunError when the program fails, or nothing of it can be measured.
  RunRecord run();

 private:
  void look();
  void on_message(Member& member, const std::string& message);
  void understand(Member& member, const std::string& message);
  void watch_consumption();
  Training& training_of(const Member& member);
  bool windows_ended() const;
  void measure_hooks();  // once the windows have ended
  void begin_to_stop();
  void stop_harder();
  void watch_for_silence();
  void report_progress();
  void check_end() const;
  std::string program() const;
  void say_hook_cost(RunRecord& record) const;
  RunRecord record();

  const RunConfig& config_;
  const EngineContext& context_;
  const std::vector<std::string>& command_;
  Belongings belongings_;
  Host host_;
  ProgramOutput output_;
  Child child_;
  Nanos started_;
  std::map<pid_t, Training> trainings_;  // by the process that trains
  std::map<pid_t, std::int32_t> ranks_;
  std::set<pid_t> processes_;  // all that have joined
  std::string failure_;        // what the loader threw
  std::string refusal_;        // why our side of it did not begin
  std::vector<std::string> notes_;
  std::int64_t other_iterators_ = 0;
  DataIdentity identity_;
  Consumption consumption_;
  std::optional<HookCost> hook_cost_;
  bool interrupted_ = false, complete_ = false;
  Nanos stopping_since_ = 0;
  int stop_level_ = 0;
  Nanos last_progress_ = 0;
  std::optional<int> status_;
};

}  // namespace loaderscope::guest
