// Resources that ranks of a modelled job share besides the barrier: virtual time, the cores of
// their hosts, the storage, and the hosts that decode.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/fifo.h"
#include "engine/model/shared_server.h"
#include "engine/pipeline/loader_plan.h"
#include "loaderscope/events.h"

namespace loaderscope::model {

// The actor that wakes when work ends. The packed number is also the order of ends in the same ns:
// workers by their id, then feeders, pin threads, trainers and computes.
enum class Role : std::uint8_t { worker, feeder, pin_thread, trainer, compute };

struct ActorId {
  Role role;
  std::int32_t rank;
  std::int32_t index;  // number of the worker; 0 for all others
};

constexpr std::uint64_t pack(ActorId who) {
  return static_cast<std::uint64_t>(who.role) << 56 | static_cast<std::uint64_t>(who.rank) << 28 |
         static_cast<std::uint64_t>(who.index);
}

constexpr ActorId unpack(std::uint64_t packed) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 28) - 1;
  return {static_cast<Role>(packed >> 56), static_cast<std::int32_t>(packed >> 28 & kMask),
          static_cast<std::int32_t>(packed & kMask)};
}

// Refuses a time that is too far away (RunError), long before it overflows.
void check_time(Nanos at);

// Work that has begun. It keeps its address until `SimulatedMachine::end` returns how it went.
struct ActiveWork {
  Nanos begin = 0;
  std::size_t host = 0;
  Nanos transfer_left = 0, remote_cpu_left = 0, cpu_left = 0;  // parts that have not begun
  double threads = 1;                                          // threads of the part on cores
  Nanos cpu_begin = kNever;                                    // begin of its last part, on a core
  Nanos waited = 0;  // reading of the cores' waiting time then

  bool parts_left() const { return transfer_left + remote_cpu_left + cpu_left > 0; }
};

class SimulatedMachine {
 public:
  // Covers the hosts from `first_host` to the one before `end_host`.
  SimulatedMachine(const LoaderPlan& plan, std::size_t first_host, std::size_t end_host);

  Nanos now() const { return now_; }

  // `who` is woken at `at`.
  void wake_at(Nanos at, std::uint64_t who);
  // Begins a piece of work, its parts one after another; `who` is woken at its end.
  void begin(std::uint64_t who, const StageTime& time, ActiveWork& work);
  // Begins `amount` ns of a step's compute on the cores that the loader also uses. `who` is woken
  // at its end.
  void begin_compute(std::uint64_t who, Nanos amount) {
    cores_.add_team(host_index(who), now_, who, amount);
  }
  // Work whose end comes from another actor.
  ActiveWork begin_waiting() const { return {.begin = now_}; }
  // The work that has just ended, with its CPU time and its waiting for a core.
  Interval end(const ActiveWork& work);

  // Begins a read of `bytes` from the shared storage; `who` is woken once for each of its phases
  // and calls `continue_read` until that says true: the read has ended.
  struct Read {
    enum class Phase : std::uint8_t { none, waiting, latency, transfer } phase = Phase::none;
    Bytes bytes = 0;
    Nanos extra = 0;  // injected
  };
  void begin_read(std::uint64_t who, Read& read);
  bool continue_read(std::uint64_t who, Read& read);

  // Time at which the link that the requests of all readers share becomes free.
  Nanos& request_link_free() { return request_link_free_; }

  // The next to be woken; moves the time there. False when nothing is left to happen.
  bool next(std::uint64_t& who);

 private:
  struct Event {
    Nanos at;
    std::uint64_t who;
  };
  struct WaitingRead {
    std::uint64_t who;
    Read* read;
  };
  std::size_t host_index(std::uint64_t who) const {
    return plan_.host_index(unpack(who).rank) - first_host_;
  }
  bool next_end(std::uint64_t& who);
  bool continues(std::uint64_t who);
  void begin_part(std::uint64_t who, ActiveWork& work);
  void enter_storage(std::uint64_t who, Read& read);
  void leave_storage();

  const LoaderPlan& plan_;
  std::size_t first_host_;
  Nanos now_ = 0;
  std::vector<Event> events_;  // a heap, the earliest in front
  HostCores cores_;
  SharedServer storage_link_;
  SharedServer decode_hosts_;
  std::int64_t reads_in_storage_ = 0;
  Nanos request_link_free_ = 0;
  Fifo<WaitingRead> waiting_reads_;
  std::unordered_map<std::uint64_t, ActiveWork*>
      unfinished_;  // work with parts that have not begun
};

}  // namespace loaderscope::model
