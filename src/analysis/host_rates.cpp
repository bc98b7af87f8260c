#include "analysis/host_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "analysis/request_times.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "record/checked_sum.h"

namespace loaderscope {
namespace {

constexpr double kMuchWaited = 0.05;  // share of the window
constexpr double kMuchLess = 0.5;     // share of the wait of any other host, by its slowest rank
constexpr double kGap = 0.25;         // share of the longest wait; below it both are slow
constexpr double kLess = 0.6;         // same as kMuchLess, by the mean of its ranks
constexpr double kUnlike = 1.25;      // times what the others take

std::string host_number(std::size_t host) { return fmt::format("host {}", host); }

// Containers of one image may all have one name.
void name_hosts(const RunRecord& record, std::vector<HostRate>& hosts) {
  std::map<std::string, int> uses;
  for (const HostRecord& host : record.hosts) ++uses[host.machine.host.value_or("")];
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string name = record.hosts[i].machine.host.value_or("");
    hosts[i].name = name.empty()     ? host_number(i)
                    : uses[name] > 1 ? fmt::format("{} ({})", name, host_number(i))
                                     : name;
  }
}

double per_sample(Nanos took, std::int64_t samples) {
  return samples > 0 ? static_cast<double>(took) / static_cast<double>(samples) : 0;
}

Nanos work_time(const StageStats& stage) { return stage.wall - stage.queued; }

HostRate measure_host(const RunRecord& record, const Analysis& analysis, const HostRecord& host,
                      std::size_t first) {
  HostRate pace;
  pace.first_rank = first;
  pace.ranks = static_cast<std::size_t>(host.ranks);
  Nanos reads = 0, decodes = 0;
  std::int64_t samples = 0;
  pace.least_wait = 1;
  for (std::size_t r = first; r < first + pace.ranks; ++r) {
    const RankRecord& rank = record.ranks[r];
    pace.samples_per_s += rank_rate(rank, &RankRecord::samples);
    pace.read_bytes_per_s += rank_rate(rank, &RankRecord::read_bytes);
    add_checked(reads, work_time(rank.stages[Stage::read]));
    add_checked(decodes, work_time(rank.stages[Stage::decode]));
    samples += rank.samples;
    const Account& account = analysis.rank_accounts[r];
    if (account.window > 0)
      pace.least_wait = std::min(pace.least_wait, window_share(account.waiting_for_ranks, account));
  }
  const auto accounts = analysis.rank_accounts.begin() + static_cast<std::ptrdiff_t>(first);
  pace.account = mean_account({accounts, accounts + static_cast<std::ptrdiff_t>(pace.ranks)});
  pace.read_of_sample = per_sample(reads, samples);
  pace.decode_of_sample = per_sample(decodes, samples);
  const std::int64_t readers = std::max<std::int64_t>(1, record.config.loader.num_workers);
  if (const auto requests =
          request_times(host.metrics, static_cast<double>(readers * host.ranks))) {
    pace.request_rate = requests->rate();
    pace.link_is_full = requests->is_full();
  }
  pace.waits_for_notifications = waits_for_notifications(host.metrics, pace.account);
  pace.cores = host.machine.cores;
  const double window = seconds(pace.account.window);
  if (window > 0)
    pace.throttled =
        std::min(1.0, value_of(host.metrics, metric::host_throttled_s).value_or(0) / window);
  return pace;
}

// Returns true if the reads take no longer than on the other hosts.
bool takes_as_long_as_others(double own, double others) {
  return own > 0 && own <= kUnlike * others;
}

// Returns the mean over the other hosts that have a value.
template <class All, class Value>
double mean_of_others(const All& all, const Value& value, std::size_t but) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double one = value(all[i]);
    if (i == but || one <= 0) continue;
    sum += one;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

bool waits_mostly_for_reads(const Account& account) {
  const Nanos reads = account.stall[Cause::read];
  return reads > 0 && reads >= *std::max_element(account.stall.begin(), account.stall.end());
}

bool waits_for_common_reads(const std::vector<HostRate>& hosts, std::size_t number) {
  const auto read_of_sample = [](const HostRate& host) { return host.read_of_sample; };
  return waits_mostly_for_reads(hosts[number].account) &&
         takes_as_long_as_others(hosts[number].read_of_sample,
                                 mean_of_others(hosts, read_of_sample, number));
}

}  // namespace

std::vector<HostRate> host_rates(const RunRecord& record, const Analysis& analysis) {
  std::vector<HostRate> hosts;
  if (record.hosts.size() < 2 || analysis.rank_accounts.size() != record.ranks.size()) return hosts;
  std::size_t rank = 0;
  for (const HostRecord& host : record.hosts) {
    hosts.push_back(measure_host(record, analysis, host, rank));
    rank += hosts.back().ranks;
  }
  name_hosts(record, hosts);
  return hosts;
}

std::optional<std::size_t> limiting_host(const std::vector<HostRate>& hosts) {
  std::vector<std::size_t> order = slowest_first(hosts);
  std::erase_if(order, [&](std::size_t host) { return !hosts[host].is_measured(); });
  if (order.size() < 2) return std::nullopt;
  const HostRate &first = hosts[order[0]], &next = hosts[order[1]];
  double most = 0, least_mean = 1;
  for (const std::size_t host : std::span(order).subspan(1)) {
    most = std::max(most, hosts[host].waits_for_ranks());
    least_mean = std::min(least_mean, hosts[host].waits_for_ranks());
  }
  const double gap = next.least_wait - first.least_wait;
  if (most < kMuchWaited || gap < kGap * most || first.least_wait > kMuchLess * next.least_wait ||
      first.waits_for_ranks() > kLess * least_mean || waits_for_common_reads(hosts, order[0]))
    return std::nullopt;
  return order[0];
}

bool waits_for_common_reads(const RunRecord& record, const Account& account, std::size_t rank) {
  const auto read_of_sample = [](const RankRecord& one) {
    return per_sample(work_time(one.stages[Stage::read]), one.samples);
  };
  return waits_mostly_for_reads(account) &&
         takes_as_long_as_others(read_of_sample(record.ranks[rank]),
                                 mean_of_others(record.ranks, read_of_sample, rank));
}

std::vector<std::size_t> slowest_first(const std::vector<HostRate>& hosts) {
  std::vector<std::size_t> order(hosts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const HostRate& host = hosts[i];
    return std::tuple(!host.is_measured(), host.least_wait, host.samples_per_s, -host.own_waits());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

}  // namespace loaderscope
