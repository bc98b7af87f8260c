// Messages of the processes of a job, distributed by subject.
#pragma once

#include <sys/types.h>
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "guest/host/guest_counters.h"
#include "guest/host/message_contents.h"
#include "guest/host/process_watch.h"
#include "guest/host/training_processes.h"
#include "guest/host/wrong_data/data_checks.h"
#include "guest/protocol/message_kinds.h"
#include "loaderscope/run_config.h"

namespace loaderscope::guest {

// Delays of a run that were injected: the ones whose hook ran in the program.
class Injected {
 public:
  // `config` outlives this.
  explicit Injected(const RunConfig& config);

  // Marks a delay by its index in config.inject.
  void executed(std::size_t number) {
    if (number < config_.declared.inject.value.size()) executed_.insert(number);
  }
  // Returns a sentence about the first delay that did not run, or "" if all ran.
  // `skips_single_rank` leaves out delays of a single rank, which may not have begun.
  std::string missing(bool skips_single_rank) const;

 private:
  const RunConfig& config_;
  std::set<std::size_t> executed_;
};

struct StacksOffer {
  Hello who;
  StacksMessage how;
};

class Messages {
 public:
  // Passes facts about the batches of a loader to `training`, and facts about threads to `watch`.
  // All outlive this.
  Messages(const RunConfig& config, TrainingProcesses& training, ProcessWatch& watch);

  void receive_report(const GuestProcess& member, const std::string& text);
  void note(const std::string& whole);  // cuts a long sentence

  const std::string& failure() const { return failure_; }  // exception of the loader; "": none
  // reason why the guest of a process did not start
  const std::string& refusal() const { return refusal_; }
  const Injected& injected() const { return injected_; }
  const std::vector<std::string>& notes() const { return notes_; }
  // The first loader that could not be described, and why; "": none.
  const std::string& not_looked_into() const { return not_looked_into_; }
  // The data of `measured`, which may be null.
  DataFaults faults(const LoaderHistory* measured) const;
  const GuestCounters& counters() const { return counters_; }
  // Offers to write Python stacks on request, also of processes that have ended.
  const std::map<pid_t, StacksOffer>& stacks() const { return stacks_; }
  // The first reported maker, or nothing.
  const std::optional<MakerMessage>& maker() const { return maker_; }
  bool uses_gpu() const { return uses_gpu_; }  // true if any process uses a GPU

 private:
  // Parser and action of one kind of message.
  struct Handler {
    MessageKind kind;
    void (*handle)(Messages& messages, const GuestProcess& member, const nlohmann::json& message);
  };
  template <auto parse, auto act>
  static constexpr Handler handler(MessageKind kind);
  static const Handler* find_handler(std::string_view what);  // null: unknown kind

  void meet_loader(const GuestProcess& member, const LoaderMessage& content);
  void degrade(const GuestProcess& member, const Degradation& content);
  void refuse(const GuestProcess&, const std::string& sentence) { refusal_ = sentence; }
  void fail(const GuestProcess& member, const std::string& sentence);
  void inject(const GuestProcess&, const std::size_t& number) { injected_.executed(number); }
  void use_gpu(const GuestProcess&, const NoContent&) { uses_gpu_ = true; }
  void watch_gpu(const GuestProcess& member, const NoContent&) {
    training_.get_process(member).watch_gpu();
  }
  void watch_no_gpu(const GuestProcess& member, const NoContent&) {
    training_.get_process(member).watch_no_gpu();
  }
  void watch_threads(const GuestProcess& member, const ThreadsMessage& content);
  void offer_stacks(const GuestProcess& member, const StacksMessage& how);
  void count(const GuestProcess& member, const CounterValues& values) {
    counters_.put(member.id(), member.is_worker, values);
  }
  void find_maker(const GuestProcess&, const MakerMessage& content);
  template <class Content>
  void check_data(const GuestProcess& member, const Content& content);
  DataChecks& loader_checks(const GuestProcess& member, std::int32_t iterator);

  TrainingProcesses& training_;
  ProcessWatch& watch_;
  std::string failure_, refusal_;
  std::vector<std::string> notes_;
  std::string not_looked_into_;
  std::map<std::int32_t, DataChecks> checks_;  // checks by loader number
  GuestCounters counters_;
  std::optional<MakerMessage> maker_;
  bool uses_gpu_ = false;
  std::map<pid_t, StacksOffer> stacks_;
  Injected injected_;
};

}  // namespace loaderscope::guest
