// Runs somebody else's training program and measures the DataLoader in it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/guest/belongings.h"
#include "engine/guest/child.h"
#include "engine/guest/consumption.h"
#include "engine/guest/data_identity.h"
#include "engine/guest/hook_series.h"
#include "engine/guest/host.h"
#include "engine/guest/injected.h"
#include "engine/guest/process_watch.h"
#include "engine/guest/program_output.h"
#include "engine/guest/second_signal.h"
#include "engine/guest/trainer_process.h"
#include "engine/guest/user_code.h"
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
  std::vector<JobProcess> running() const;  // that have joined
  void watch_processes();
  void on_message(Member& member, const std::string& message);
  void understand(Member& member, const std::string& message);
  void watch_consumption();
  void meet_loader(const Member& member, std::int32_t iterator, const LoaderFacts& loader);
  TrainerProcess& process_of(const Member& member);
  DataIdentity& identity_of(const Member& member, std::int32_t iterator);
  bool windows_ended() const;
  HookSeries::Seen seen() const;
  void measure_hooks();
  void look_for_signals();
  void begin_to_stop();
  void stop_harder();
  void watch_for_silence();
  void watch_injections();
  [[noreturn]] void give_up(const std::string& why);
  void report_progress();
  void check_end() const;
  const Training* first_measured() const;
  std::string program() const;
  void say_which_loader(RunRecord& record) const;
  void say_gpu(RunRecord& record, const std::vector<const Training*>& trainings) const;
  void put_beside_account(RunRecord& record) const;
  std::vector<Metric> loader_metrics(const RunRecord& record) const;
  RunRecord record();

  const RunConfig& config_;
  const EngineContext& context_;
  const std::vector<std::string>& command_;
  Belongings belongings_;
  Host host_;
  ProgramOutput output_;
  Child child_;
  Nanos started_;
  std::map<pid_t, TrainerProcess> trainers_;  // by the process that trains
  std::map<pid_t, std::int32_t> ranks_;
  std::set<pid_t> processes_;  // all that have joined
  std::string failure_;        // what the loader threw
  std::string refusal_;        // why our side of it did not begin
  std::vector<std::string> notes_;
  std::map<std::int32_t, DataIdentity> identities_;  // by the number of the loader
  UserCode user_code_;
  ProcessWatch watch_;
  Consumption consumption_;
  std::map<pid_t, std::pair<std::int64_t, std::int64_t>> padding_;  // real and padded elements
  Injected injected_;
  HookSeries hooks_;
  std::optional<SecondSignal> second_signal_;  // once the user has asked to stop
  bool complete_ = false, left_behind_ = false;
  Nanos stopping_since_ = 0;
  int stop_level_ = 0;
  Nanos last_progress_ = 0;
  std::optional<int> status_;
};

}  // namespace loaderscope::guest
