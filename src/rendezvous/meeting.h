// Processes of one job that begin, step and end together: each talks to process 0 over TCP.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "loaderscope/units.h"
#include "rendezvous/connection.h"
#include "rendezvous/job_place.h"

namespace loaderscope {

// What a process says of itself when it comes.
struct Introduction {
  std::string version, host, settings;
  std::int64_t ranks = 1;  // of it
};

// A clock less that of process 0, and how far this can be wrong.
struct ClockDifference {
  Nanos offset = 0, error = 0;
};

class Meeting {
 public:
  struct Patience {
    Nanos to_come = 60 * kSecond;     // for all
    Nanos in_silence = 10 * kSecond;  // with one that says nothing: it beats every second
  };

  // Waits until all have come and compared their clocks. Throws RunError: who does not come, or
  // has another version or other settings.
  Meeting(const JobPlace& place, const Introduction& own, const Patience& patience);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  bool is_first() const { return place_.number == 0; }
  std::int64_t first_rank() const { return first_rank_; }  // of this process, in the job
  std::int64_t ranks() const { return ranks_; }            // of the job
  ClockDifference clock() const { return clock_; }         // at the begin
  ClockDifference compare_clocks();                        // again; throws RunError

  // A step begins when the last process could: times are of the caller's clock.
  void ready(std::int64_t step, Nanos at);
  std::optional<Nanos> begin_of(std::int64_t step);  // nothing: not known yet
  // Is called, from another thread, when another begin is known.
  void on_begin(std::function<void()> call);

  // The job's steps end with so many: the first who says so decides.
  void end_after(std::int64_t steps);
  // So many are all, or the job cannot go on.
  bool is_over(std::int64_t steps);
  std::string failure();  // a sentence; "": none

  // At process 0 the bytes of all others, in their order, those that have ended being "". Others
  // give theirs, and wait until they are taken. Throws RunError only at others.
  std::vector<std::string> gather(const std::string& bytes);
  std::string name_of(std::int64_t process);  // at process 0: "process 3 on HOST"

 private:
  struct Peer {
    explicit Peer(Fd socket) : connection(std::move(socket)) {}
    Connection connection;
    std::int64_t number = -1;  // -1: it has not said who it is
    Introduction of;
    bool clocked = false, is_gone = false;
    std::optional<std::string> record;
  };

  void come_to_first();
  void let_one_come();
  void serve();
  void take(Peer& peer, const Message& message);
  void take_hello(Peer& peer, const std::string& bytes);
  void take_ready(std::int64_t step, Nanos at);
  void take_begin(std::int64_t step, Nanos at);
  void take_over(std::int64_t steps);
  void lose(Peer& peer, const std::string& how);
  void fail(const std::string& why);
  void tell_all(MessageKind kind, const std::string& bytes);
  std::string why_refused(const Peer& peer) const;
  std::int64_t members() const;  // that have come to process 0
  std::int64_t last_begin() const;
  std::string missing() const;
  bool all(bool (*is_so)(const Peer&)) const;
  void welcome_all();
  template <class Done>
  void wait_for(Done done, Nanos until, const std::string& otherwise);

  const JobPlace place_;
  const Introduction own_;
  const Patience patience_;
  Fd listener_{-1};
  std::int64_t first_rank_ = 0, ranks_ = 0;
  ClockDifference clock_;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Peer>> peers_;
  bool welcome_ = false, go_ = false, thanked_ = false, stop_ = false;
  std::string failure_;
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
  std::optional<std::int64_t> over_;
  std::function<void()> on_begin_;
  std::thread thread_;
};

}  // namespace loaderscope
