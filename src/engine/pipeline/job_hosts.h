#pragma once

#include <cstdint>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope {

// The machines of a job that is spread over several, each like the one that was measured, or as
// `measured` says.
struct JobHosts {
  struct Host {
    std::int64_t ranks = 0;
    double cores = 0;  // 0: as many as the settings say
  };

  std::int64_t count = 1;      // hosts with ranks
  std::vector<Host> measured;  // empty: alike
  double decode_cores = 0;     // cores of all hosts that only decode; 0: there are none
  double decode_rate = 0;      // bytes per second that these send, as batches have them; 0: any
  // The most by which workers of one rank start later than those of another. Ranks with equal costs
  // that start together would compete for the cores in every step, as real ranks do not.
  Nanos start_skew = 0;

  // Returns the host of each rank, host by host. Uses the measured numbers if they have this many
  // ranks. Otherwise, no host has two more ranks than another.
  std::vector<std::size_t> of_ranks(std::int64_t ranks) const;

  // The time that decoding a sample takes these hosts, if it is the only one there. `cpu` is its
  // time on one core. All cores share the work, because more samples are in flight than there are
  // cores.
  Nanos remote_cpu(Nanos cpu, Bytes delivered) const;
};

}  // namespace loaderscope
