#include "analysis/host_paces.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "record/checked_sum.h"

namespace loaderscope {
namespace {

constexpr double kMuchWaited = 0.05;  // of the window
constexpr double kMuchLess = 0.5;     // of what any other host waits, by its slowest rank
constexpr double kGap = 0.25;         // of what is waited most, between the two: else both are slow
constexpr double kLess = 0.6;         // likewise, by the mean of its ranks
constexpr double kUnlike = 1.25;      // times what the others take or have
constexpr double kWorthACause = 0.05;

std::string number_of(std::size_t host) { return fmt::format("host {}", host); }

// Containers of one image may all have one name.
void name_hosts(const RunRecord& record, std::vector<HostPace>& hosts) {
  std::map<std::string, int> uses;
  for (const HostRecord& host : record.hosts) ++uses[host.machine.host.value_or("")];
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string name = record.hosts[i].machine.host.value_or("");
    hosts[i].name = name.empty()     ? number_of(i)
                    : uses[name] > 1 ? fmt::format("{} ({})", name, number_of(i))
                                     : name;
  }
}

double of_sample(Nanos took, std::int64_t samples) {
  return samples > 0 ? static_cast<double>(took) / static_cast<double>(samples) : 0;
}

Nanos took_of(const StageStats& stage) { return stage.wall - stage.queued; }

HostPace pace_of(const RunRecord& record, const Analysis& analysis, const HostRecord& host,
                 std::size_t first) {
  HostPace pace;
  pace.first_rank = first;
  pace.ranks = static_cast<std::size_t>(host.ranks);
  Nanos reads = 0, decodes = 0;
  std::int64_t samples = 0;
  pace.least_wait = 1;
  for (std::size_t r = first; r < first + pace.ranks; ++r) {
    const RankRecord& rank = record.ranks[r];
    pace.samples_per_s += rate_of(rank, &RankRecord::samples);
    pace.read_bytes_per_s += rate_of(rank, &RankRecord::read_bytes);
    add_checked(reads, took_of(rank.stages[Stage::read]));
    add_checked(decodes, took_of(rank.stages[Stage::decode]));
    samples += rank.samples;
    const Account& account = analysis.rank_accounts[r];
    pace.least_wait = std::min(pace.least_wait, share_of(account.waiting_for_ranks, account));
  }
  const auto accounts = analysis.rank_accounts.begin() + static_cast<std::ptrdiff_t>(first);
  pace.account = mean_account({accounts, accounts + static_cast<std::ptrdiff_t>(pace.ranks)});
  pace.read_of_sample = of_sample(reads, samples);
  pace.decode_of_sample = of_sample(decodes, samples);
  pace.cores = host.machine.cores;
  const double window = seconds(pace.account.window);
  if (window > 0)
    pace.throttled = std::min(1.0, value_of(host.metrics, "host.throttled_s").value_or(0) / window);
  return pace;
}

// Of all but one.
double of_others(const std::vector<HostPace>& hosts, std::size_t but,
                 const std::function<double(const HostPace&)>& value) {
  std::vector<double> values;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (i != but) values.push_back(value(hosts[i]));
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double stall_of(const HostPace& host, Cause cause) {
  return share_of(host.account.stall[cause], host.account);
}

// What the others waited for it is booked to the same causes: what it waits for is its own.
Cause own_cause(const HostPace& host) {
  const auto& stall = host.account.stall;
  return static_cast<Cause>(std::max_element(stall.begin(), stall.end()) - stall.begin());
}

std::string took_words(std::string_view what, double own, double others) {
  return fmt::format("{} takes {} a sample, on the others {}", what,
                     show_duration(static_cast<Nanos>(own)),
                     show_duration(static_cast<Nanos>(others)));
}

}  // namespace

std::vector<HostPace> host_paces(const RunRecord& record, const Analysis& analysis) {
  std::vector<HostPace> hosts;
  if (record.hosts.size() < 2 || analysis.rank_accounts.size() != record.ranks.size()) return hosts;
  std::size_t rank = 0;
  for (const HostRecord& host : record.hosts) {
    hosts.push_back(pace_of(record, analysis, host, rank));
    rank += hosts.back().ranks;
  }
  name_hosts(record, hosts);
  return hosts;
}

std::optional<std::size_t> pace_setter(const std::vector<HostPace>& hosts) {
  if (hosts.size() < 2) return std::nullopt;
  const std::vector<std::size_t> order = slowest_first(hosts);
  const HostPace &first = hosts[order[0]], &next = hosts[order[1]];
  double most = 0, least_mean = 1;
  for (const std::size_t host : std::span(order).subspan(1)) {
    most = std::max(most, hosts[host].waits_for_ranks());
    least_mean = std::min(least_mean, hosts[host].waits_for_ranks());
  }
  const double gap = next.least_wait - first.least_wait;
  if (most < kMuchWaited || gap < kGap * most || first.least_wait > kMuchLess * next.least_wait ||
      first.waits_for_ranks() > kLess * least_mean)
    return std::nullopt;
  return order[0];
}

std::string local_cause(const std::vector<HostPace>& hosts, std::size_t of) {
  const HostPace& host = hosts[of];
  const auto others = [&](double HostPace::*member) {
    return of_others(hosts, of, [member](const HostPace& other) { return other.*member; });
  };
  const Cause cause = own_cause(host);
  std::string text = fmt::format("it waits chiefly for {} ({})", name_of(cause),
                                 show_percent(stall_of(host, cause)));
  const double queued = stall_of(host, Cause::contention);
  const double queued_there =
      of_others(hosts, of, [](const HostPace& h) { return stall_of(h, Cause::contention); });
  const bool fewer_cores = host.cores > 0 && kUnlike * host.cores <= others(&HostPace::cores);
  if (fewer_cores || queued >= queued_there + kWorthACause) {
    text = fmt::format("its threads wait for a core {} of the time", show_percent(queued));
    // Of others that wait for this one, it is what they wait for too.
    if (queued >= queued_there + kWorthACause)
      text += ", those of the others " + show_percent(queued_there);
    if (host.cores > 0)
      text += fmt::format(" ({}, the others {})", show_cores(host.cores),
                          show_cores(others(&HostPace::cores)));
    if (host.throttled > 0)
      text += fmt::format(", and its CPU quota stopped it {}", show_percent(host.throttled));
  } else if (host.read_of_sample > kUnlike * others(&HostPace::read_of_sample) &&
             cause == Cause::read) {
    text += "; " + took_words("reading", host.read_of_sample, others(&HostPace::read_of_sample));
  } else if (host.decode_of_sample > kUnlike * others(&HostPace::decode_of_sample)) {
    text +=
        "; " + took_words("decoding", host.decode_of_sample, others(&HostPace::decode_of_sample));
  }
  return text;
}

std::vector<std::size_t> slowest_first(const std::vector<HostPace>& hosts) {
  std::vector<std::size_t> order(hosts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const HostPace& host = hosts[i];
    return std::tuple(host.least_wait, host.samples_per_s, -host.own_waits());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

}  // namespace loaderscope
