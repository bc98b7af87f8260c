// Processes of one job that begin, step and end together: each talks to process 0 over TCP.
#pragma once

#include <condition_variable>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "loaderscope/units.h"
#include "rendezvous/connection.h"
#include "rendezvous/handshake.h"
#include "rendezvous/process_address.h"

namespace loaderscope {

// A clock less that of process 0, and how far this can be wrong.
struct ClockDifference {
  Nanos offset = 0, error = 0;
  Nanos at = 0;  // time on the clock itself, when it was compared
};

class Rendezvous {
 public:
  struct Timeouts {
    Nanos join = kUsualWait;        // limit for the arrival of all
    Nanos silence = 10 * kSecond;   // limit for a silent process: it beats every second
    Nanos progress = 60 * kSecond;  // with one that beats, and does nothing else
  };

  // Waits until all have come and compared their clocks. Throws RunError: who does not come, or
  // has another version or other settings; or that `stop` is not 0.
  Rendezvous(ProcessAddress place, const HelloMessage& own, const Timeouts& patience,
             const StopSignal* stop = nullptr);
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  bool is_first() const { return place_.number == 0; }
  std::int64_t first_rank() const { return first_rank_; }  // first rank of this process in the job
  std::int64_t ranks() const { return ranks_; }            // ranks of the job
  ClockDifference clock() const { return clock_; }         // difference at the begin
  ClockDifference compare_clocks();                        // again; throws RunError

  // A step begins when the last process could: times are of the caller's clock.
  void ready(std::int64_t step, Nanos at);
  std::optional<Nanos> find_begin(std::int64_t step);  // null while unknown
  // Is called, from another thread, when another begin is known.
  void on_begin(std::function<void()> call);
  // Returns the processes that are not ready for a step that others are ready for; "": none. Call
  // it at process 0.
  std::string awaited();

  // The window of the job's first rank, which process 0 publishes.
  struct Window {
    std::int64_t folded = 0;
    std::int64_t first_measured = std::numeric_limits<std::int64_t>::max();
    bool ended = false;
  };
  void publish_window(const Window& window);
  Window window();

  // Ends the job's steps at `steps`. The first call decides.
  void end_after(std::int64_t steps);
  // Returns true if `steps` is the end of the job, or the job cannot continue. More steps than in
  // the last call count as progress.
  bool is_over(std::int64_t steps);
  void give_up(const std::string& why);  // ends the job for all
  std::string failure();                 // a sentence; "": none

  // At process 0: `take` is called with the bytes of each other in their order, "" where it has
  // ended or does not get on, or is not there once `stop` is not 0. A few are there at a time. What
  // `take` throws is thrown.
  using Take = std::function<void(std::int64_t process, std::string bytes)>;
  void gather(const Take& take, const StopSignal* stop = nullptr);
  // Waits until process 0 has taken the bytes. Throws RunError if it does not take them. Call it at
  // other processes.
  void hand_over(const std::string& bytes);
  // Available at process 0.
  std::string name_of(std::int64_t process);  // "process 3 on HOST"
  bool are_on_one_host(std::int64_t one, std::int64_t other);
  UsableCpus find_cpus(std::int64_t process);

 private:
  struct Peer {
    explicit Peer(Fd socket) : connection(std::move(socket)) {}
    Connection connection;
    Nanos came_at = 0;
    Once once;                   // at process 0, of the handshake
    std::int64_t number = -1;    // -1: a stranger, which has not proved that it knows the token
    bool is_introduced = false;  // used at process 0
    HelloMessage hello;
    bool clocked = false, is_gone = false, is_done = false;
    std::int64_t ready_for = -1;  // the last step
    std::int64_t progress = 0;
    Nanos got_on_at = 0;
    bool is_awaited = false;  // true if progress is due
    std::optional<std::string> record;
  };

  void come_to_first(Nanos until);
  bool prove_to_first(Connection& first);  // false: it ended before it answered
  std::optional<Message> next_of_first(Connection& first, Nanos until) const;
  void introduce_to_first(Connection& first) const;
  bool let_one_come();  // false: it cannot now
  void let_many_come(bool can_take_one, Nanos now);
  bool has_room() const;
  void drop_strangers(Nanos now);
  void serve();
  void handle_event(void* who, Nanos now);
  void read_all_peers(Nanos now);
  void read_peer(Peer& peer, bool has_come, Nanos now);
  void take(Peer& peer, Message message);
  void take_of_stranger(Peer& peer, const Message& message);
  void take_hello(Peer& peer, const std::string& bytes);
  void take_proof(Peer& peer, const std::string& bytes);
  void take_introduction(Peer& peer, const std::string& bytes);
  void refuse(Peer& peer, const std::string& why);
  const HelloMessage& find_introduction(std::int64_t number);
  void take_ready(std::int64_t step, Nanos at);
  void take_begin(std::int64_t step, Nanos at);
  void take_over(std::int64_t steps);
  void lose(Peer& peer, const std::string& how);
  void fail(const std::string& why);
  void send_all(MessageKind kind, const std::string& bytes);
  void attend_to(Peer& peer);
  void forget(Peer& peer);
  void invite(Peer& peer);
  Peer& process(std::int64_t number);
  std::string why_not_place(const Claim& claim) const;
  std::int64_t members() const;  // processes that have come to process 0
  std::int64_t last_begin() const;
  std::string missing() const;
  bool all(bool (*is_so)(const Peer&)) const;
  void welcome_all();
  template <class Done>
  bool wait_until(std::unique_lock<std::mutex>& lock, Done done, Nanos until);
  template <class Done>
  void wait_for(Done done, Nanos until, const std::string& otherwise);

  // Unproven connections at once, besides the processes of the job.
  static constexpr std::int64_t kMaxStrangers = 256;

  ProcessAddress place_;
  Fd events_;  // epoll: of peers, by their address, and of listeners, by none
  bool listens_ = false;
  Nanos come_at_ = 0;  // time before which no process is accepted
  const HelloMessage own_;
  const Timeouts patience_;
  const StopSignal* stop_signal_;  // signal for a wait for others
  std::int64_t first_rank_ = 0, ranks_ = 0;
  ClockDifference clock_;

  std::mutex mutex_;  // protects all members below
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Peer>> peers_;
  bool welcome_ = false, go_ = false, give_ = false, thanked_ = false, stop_ = false;
  std::string failure_, refused_;  // refused_: why the last one was that did not belong here
  struct Pong {
    Nanos there = 0, here = 0;
  };
  std::optional<Pong> pong_;
  struct Ready {
    std::int64_t count = 0;
    Nanos last = 0;
  };
  std::map<std::int64_t, Ready> ready_;  // at process 0, on its clock
  std::map<std::int64_t, Nanos> begins_;
  Window window_;
  std::optional<std::int64_t> over_;
  std::int64_t progress_ = 0, steps_ = 0;  // progress of this process
  std::function<void()> on_begin_;
  std::thread thread_;
};

}  // namespace loaderscope
