// The hosts of a job beside each other: how fast each is and what holds it up.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

struct HostRate {
  std::string name;  // of its machine; where it has none, or not for itself alone, with its number
  std::size_t first_rank = 0, ranks = 0;
  Account account;           // the mean of its ranks
  double samples_per_s = 0;  // the sum of them, as is the next
  double read_bytes_per_s = 0;
  // ns of a sample, without what threads waited for a core; 0: not known.
  double read_of_sample = 0, decode_of_sample = 0;
  double request_rate = 0;    // bytes per second of its requests, while any are under way; 0: none
  bool link_is_full = false;  // more requests at once bring no more of them
  double cores = 0;           // that it may use; 0: not known
  double throttled = 0;       // of the time, the CPU quota stopped it
  bool waits_for_notifications = false;  // of other hosts' ranks: that is half of its `launch`
  // Of the rank that waits least for others: the pace of a host is that of its slowest one.
  double least_wait = 0;

  // Else its ranks ended before any step that counts, and nothing is known of its pace.
  bool is_measured() const { return account.window > 0; }
  double waits_for_ranks() const { return share_of(account.waiting_for_ranks, account); }
  // Without what it waited for ranks that were slower.
  double own_waits() const { return share_of(account.idle() - account.waiting_for_ranks, account); }
};

// In the order of their ranks; none of a job on one host.
std::vector<HostRate> host_rates(const RunRecord& record, const Analysis& analysis);

// The one that the others wait for; nothing where they wait little, or for several, or where it
// waits for reads that take as long on the others: then all of them wait for the storage.
std::optional<std::size_t> limiting_host(const std::vector<HostRate>& hosts);

// What it has less of, or needs more of, than the others: "its threads wait for a core 34.0 % of
// the time (2 cores, the others 8)".
std::string host_slowness(const std::vector<HostRate>& hosts, std::size_t of);
// Where to look for that: "what takes the cores of node1: its CPU quota, other programs".
std::string where_to_look(const std::vector<HostRate>& hosts, std::size_t of);

// A rank that the others wait for waits for reads that take as long on theirs.
bool waits_for_common_reads(const RunRecord& record, const Account& account, std::size_t rank);

// Whatever sets the pace first: who is waited for most, and of equals who is slowest. Those without
// a measured step last.
std::vector<std::size_t> slowest_first(const std::vector<HostRate>& hosts);

}  // namespace loaderscope
