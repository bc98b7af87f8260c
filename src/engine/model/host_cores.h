// The cores of all hosts of a job: of each host its own, which the ranks on it share.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/model/shared_server.h"

namespace loaderscope::model {

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
  std::size_t winner_of(std::size_t place) const;
  void play_again(std::size_t host);

  std::vector<SharedServer> hosts_;
  std::size_t leaves_;                // leaves of the tournament, a power of two
  std::vector<std::size_t> winners_;  // winners of the places 1 to leaves_ - 1; 1 is the final
};

}  // namespace loaderscope::model
