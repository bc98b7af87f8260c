// Work that shares a resource: P cores shared by n runnable threads, or one storage link by n
// transfers. Each of n works proceeds at min(1, P/n) x scaling(n).
//
// All works proceed at the same speed. The server therefore needs one clock of work done per work
// (`progress_`), and a heap of the marks on it at which works end. Adding and ending a work cost
// O(log n), a change of speed O(1).
//
// A team is the threads of one computation, which wait for each other at each of its operations. It
// proceeds only while all of them have a core, so it loses more to others than others lose to it.
#pragma once

#include <cstdint>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope::model {

class SharedServer {
 public:
  // `capacity`: P, in whole and fractional cores. `scaling`: the speed of each when all P are busy,
  // 1 = as alone. `others`: works of somebody else that never end and take their share too.
  // `team`: threads of each team.
  SharedServer(double capacity, double scaling, double others = 0, double team = 0);

  // `amount` ns of work for `who`, beginning now. What ends is known by `who`; of works that end in
  // the same ns the smallest `who` ends first. `threads` of a library do it together and do not
  // wait for each other.
  void add(Nanos now, std::uint64_t who, Nanos amount, double threads = 1);

  // The same for a team: `amount` ns of each of its threads.
  void add_team(Nanos now, std::uint64_t who, Nanos amount);

  bool idle() const { return heap_.empty() && teams_.empty(); }
  // kNever when idle; just before it when the end is too late for Nanos.
  Nanos next_end() const { return next_end_; }
  std::uint64_t next_who() const { return (team_is_next_ ? teams_ : heap_).front().who; }
  void end_next(Nanos now);  // requires `now` == next_end()

  // Returns the time until `now` that a runnable work spent waiting for a core, since the beginning
  // of the run. The difference of two readings is the share of a work that ran between them.
  Nanos waited(Nanos now);

 private:
  __extension__ typedef __int128 Wide;
  struct Work {
    std::int64_t mark;  // value of progress_ at which it ends
    std::uint64_t who;
    std::int64_t threads_milli = 1000;
  };
  // Speed of each of n works, and the share of its time that it waits, as fractions.
  struct Speed {
    std::int64_t numerator, denominator;
    std::int64_t waiting_numerator, waiting_denominator;
  };

  void advance(Nanos now);
  void plan_next();
  Nanos next_end_of_threads();
  Nanos next_end_of_teams();
  Speed thread_speed(std::int64_t threads_milli) const;
  double team_speed() const;

  std::int64_t capacity_milli_;
  std::int64_t scaling_ppm_;
  std::int64_t others_milli_, team_milli_;
  Speed speed_;
  std::vector<Work> heap_;
  std::int64_t threads_milli_ = 0;  // threads of the works in heap_
  std::int64_t progress_ = 0;       // unit: 1/1024 ns of work
  Wide waited_ = 0;                 // unit: 1/1024 ns; exceeds 64 bits after 104 days
  std::vector<Work> teams_;
  std::int64_t team_progress_ = 0;  // same unit
  bool team_is_next_ = false;
  Nanos now_ = 0;
  Nanos next_end_;
};

// The cores of all hosts of a job: of each host its own, which the ranks on it share.

// Finds the next end of thousands of hosts without a scan. The earliest end is the winner of a
// knockout tournament. A change of one host repeats log2(hosts) rounds.
class HostCores {
 public:
  explicit HostCores(std::vector<SharedServer> hosts);  // one at least

  void add(std::size_t host, Nanos now, std::uint64_t who, Nanos amount, double threads = 1);
  void add_team(std::size_t host, Nanos now, std::uint64_t who, Nanos amount);
  Nanos waited(std::size_t host, Nanos now) { return hosts_[host].waited(now); }

  Nanos next_end() const { return first().next_end(); }  // kNever when all are idle
  std::uint64_t next_who() const { return first().next_who(); }
  void end_next(Nanos now);  // requires `now` == next_end()

 private:
  const SharedServer& first() const { return hosts_[winners_[1]]; }
  std::size_t earlier(std::size_t a, std::size_t b) const;
  std::size_t find_winner(std::size_t place) const;
  void play_again(std::size_t host);

  std::vector<SharedServer> hosts_;
  std::size_t leaves_;                // leaves of the tournament, a power of two
  std::vector<std::size_t> winners_;  // winners of the places 1 to leaves_ - 1; 1 is the final
};

}  // namespace loaderscope::model
