// Runs a user's training program and measures the DataLoader in it.
#pragma once

#include <array>
#include <csignal>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/pipeline/measurement_window.h"
#include "guest/host/guest_files.h"
#include "guest/host/guest_server.h"
#include "guest/host/hang_watch.h"
#include "guest/host/hook_cost.h"
#include "guest/host/left_segments.h"
#include "guest/host/messages.h"
#include "guest/host/process_watch.h"
#include "guest/host/program_output.h"
#include "guest/host/resource_usage.h"
#include "guest/host/training_processes.h"
#include "loaderscope/engine.h"
#include "machine/child_process.h"

namespace loaderscope::guest {

// Ctrl-C, SIGTERM or SIGHUP for the second time, while the first one's clean end is under way: ends
// the program at once instead of us, so that nothing of it is left. One that is ignored stays so.
// One at a time. The handlers that it finds are back when it is gone.
class SecondSignal {
 public:
  SecondSignal();
  ~SecondSignal();
  SecondSignal(const SecondSignal&) = delete;
  SecondSignal& operator=(const SecondSignal&) = delete;

  bool came() const;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

  std::array<struct sigaction, kSignals.size()> before_{};
};

class Job {
 public:
  // `command` runs in the folder of the settings. Both outlive the job.
  Job(const RunConfig& config, const RunContext& context, const std::vector<std::string>& command);

  // Runs until the program has ended. Asks it to end when the window is over or the user wants to
  // stop. Processes that outlive it keep running. Throws RunError if the program fails, or if
  // nothing in it can be measured.
  RunRecord run();

 private:
  void measure();  // returns early on failure; the program keeps running
  void look();
  void notice_stop(Nanos& last_pass);
  void read_pages();
  std::vector<JobProcess> running() const;  // processes that have joined
  bool has_running_trainer() const;
  bool is_orphan(const GuestProcess& member) const;
  bool has_more_to_say(Nanos since_end) const;
  void watch_consumption();
  void look_for_end_of_window();
  void say_window_ended(bool ends) const;
  void look_for_signals();
  void begin_to_stop();
  void stop_harder();
  void watch_for_silence();
  void watch_for_a_hang();
  void watch_for_unequal_ranks();
  void watch_for_a_loader();
  void say_maker();
  void watch_injections();
  [[noreturn]] void give_up(const std::string& why);
  void end_or_leave_the_rest();
  std::string check_end() const;  // "": the program ended well
  void check_taken() const;
  std::string program() const;
  std::string with_batch_function(const std::string& place) const;  // a command
  std::vector<UnmeasuredProcess> unmeasured() const;
  void say_unmeasured(RunRecord& record) const;
  void say_changes(RunRecord& record) const;
  RunRecord record();

  const RunConfig& config_;
  const RunContext& context_;
  const std::vector<std::string>& command_;
  GuestFiles files_;
  GuestServer host_;
  ProgramOutput output_;
  ChildProcess child_;
  Nanos started_;
  Nanos resumed_at_ = 0;  // time of the last resume, as after Ctrl-Z; 0: never stopped
  LeftSegments segments_;
  std::set<pid_t> processes_;  // all processes that have joined
  TrainingProcesses training_;
  ProcessWatch watch_;
  JobMemory memory_;
  Messages messages_;
  ResourceUsage consumption_;
  std::int64_t restarted_windows_ = 0;
  double filled_ = 0;  // fill level of the fullest ring at the last look, as a share
  HookCostSchedule hooks_;
  OwnCost own_cost_;
  HangWatch hangs_;
  EpochLengths lengths_;
  std::string hang_;  // last reported hang; "": none
  NoLoaderWarning unseen_;
  ProgressThrottle progress_beat_;
  RunningAccount account_;                     // the account as last shown
  std::optional<SecondSignal> second_signal_;  // set once the user has asked to stop
  std::string broke_off_;                      // reason why measuring failed; "": it did not
  bool complete_ = false;
  bool maker_said_ = false;
  bool has_remaining_ = false;  // processes remained when the program had ended
  bool trains_on_ = false;      // a remaining process still trains
  Nanos stopping_since_ = 0;
  int stop_level_ = 0;
  std::optional<int> status_;
};

}  // namespace loaderscope::guest
