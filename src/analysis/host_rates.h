// The rate of each host of a job, and its causes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

struct HostRate {
  std::string name;  // machine name, with a number if missing or shared
  std::size_t first_rank = 0, ranks = 0;
  Account account;           // mean of its ranks
  double samples_per_s = 0;  // sum of its ranks, like the next
  double read_bytes_per_s = 0;
  // ns per sample, without run-queue delay; 0 if unknown.
  double read_of_sample = 0, decode_of_sample = 0;
  double request_rate = 0;    // bytes per second of its requests while any are in flight; 0: none
  bool link_is_full = false;  // more concurrent requests bring no more bytes
  double cores = 0;           // cores that it may use; 0 if unknown
  double throttled = 0;       // share of the time that the CPU quota stopped it
  bool waits_for_notifications = false;  // true if they are half of its `launch`
  // Wait of the rank that waits least for others: the slowest rank sets the rate of a host.
  double least_wait = 0;

  // Returns false if its ranks ended before any measured step, so that its rate is unknown.
  bool is_measured() const { return account.window > 0; }
  double waits_for_ranks() const { return window_share(account.waiting_for_ranks, account); }
  // Returns the share of the window that it waits, without waits for slower ranks.
  double own_waits() const {
    return window_share(account.idle() - account.waiting_for_ranks, account);
  }
};

// Returns the hosts in the order of their ranks; empty for a job on one host.
std::vector<HostRate> host_rates(const RunRecord& record, const Analysis& analysis);

// Returns the host that the others wait for. Empty if they wait little or for several hosts. Also
// empty if the host waits for reads that take as long on the others, as all wait for the storage.
std::optional<std::size_t> limiting_host(const std::vector<HostRate>& hosts);

// Returns what the host has less of, or needs more of, than the others: "its threads wait for a
// core 34.0 % of the time (2 cores, the others 8)".
std::string host_slowness(const std::vector<HostRate>& hosts, std::size_t number);
// Returns where to look for the cause: "what takes the cores of node1: its CPU quota, other
// programs".
std::string where_to_look(const std::vector<HostRate>& hosts, std::size_t number);

// Returns true if a rank that the others wait for waits for reads that take as long on the others.
bool waits_for_common_reads(const RunRecord& record, const Account& account, std::size_t rank);

// Returns the hosts, slowest first. Hosts that others wait for most come first; of equals, the
// slowest. Hosts without a measured step come last.
std::vector<std::size_t> slowest_first(const std::vector<HostRate>& hosts);

}  // namespace loaderscope
