// Pictures that compare the hosts or the ranks of a job.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/subject.h"
#include "analysis/host_rates.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "page/charts.h"
#include "report/draw_steps.h"
#include "report/table_parts.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxRanksDrawn = 8;

page::Bar bar_of_rank(const Account& account, std::size_t rank, bool has_busy) {
  page::Bar bar;
  bar.label = fmt::format("rank {}", rank);
  const auto add = [&](const char* name, const char* kind, Nanos part) {
    const double share = window_share(part, account);
    if (part > 0) bar.parts.push_back({name, kind, share, format_percent(share)});
  };
  if (has_busy) add("compute", "compute", account.compute);
  const Nanos own = account.idle() - account.waiting_for_ranks;
  add("waits of its own", "warning", own);
  add("waits for slower ranks", "idle", account.waiting_for_ranks);
  bar.text = fmt::format("{} own waits", format_percent(window_share(own, account)));
  return bar;
}

page::Bar bar_of_host(const HostRate& host, std::size_t index, bool has_busy) {
  page::Bar bar;
  bar.label = host.name;
  bar.text = plural(static_cast<std::int64_t>(host.ranks), "rank");
  if (host.samples_per_s > 0) bar.text += fmt::format(", {}/s", format_rate(host.samples_per_s));
  const auto add = [&](const char* name, const char* kind, double share, const char* member) {
    if (share > 0)
      bar.parts.push_back({name,
                           kind,
                           share,
                           format_percent(share),
                           {share, fmt::format("hosts.{}.pace.{}", index, member)}});
  };
  if (has_busy) add("compute", "compute", busy_share(host.account), "busy");
  add("waits of its own", "warning", host.own_waits(), "own_waits");
  add("waits for slower ranks", "idle", host.waits_for_ranks(), "waits_for_ranks");
  return bar;
}

}  // namespace

std::optional<std::size_t> slow_rank(const RunRecord& record, const Analysis& analysis) {
  if (record.hosts.size() > 1) {
    const std::vector<HostRate> hosts = host_rates(record, analysis);
    if (const auto slow = limiting_host(hosts)) return hosts[*slow].first_rank;
  }
  const std::vector<std::size_t> slow = ranks_waited_for(record, analysis);
  return slow.empty() ? std::nullopt : std::optional(slow.front());
}

std::string draw_ranks(const RunRecord& record, const Analysis& analysis) {
  const std::size_t ranks = analysis.rank_accounts.size();
  if (ranks < 2) return "";
  page::Bars bars;
  bars.title = "What each rank does";
  const std::vector<std::size_t> shown = slowest_ranks_first(record, analysis, kMaxRanksDrawn);
  if (shown.size() < ranks)
    bars.note = fmt::format("The slowest {} of {} ranks, the slowest first.", shown.size(), ranks);
  for (const std::size_t rank : shown) {
    const Account& account = analysis.rank_accounts[rank];
    if (account.window > 0) bars.bars.push_back(bar_of_rank(account, rank, analysis.has_busy));
  }
  return drawn(bars);
}

std::string draw_hosts(const RunRecord& record, const Analysis& analysis) {
  const std::vector<HostRate> hosts = host_rates(record, analysis);
  if (hosts.empty()) return "";
  page::Bars bars;
  bars.title = "How the hosts keep pace";
  const bool any_waits =
      std::ranges::any_of(hosts, [](const HostRate& host) { return host.waits_for_ranks() > 0; });
  bars.note = fmt::format("Shares of the time, the mean of a host's ranks. {}",
                          any_waits ? "Those come first that wait least for slower ranks: the "
                                      "others wait for them."
                                    : "The slowest come first.");
  const std::vector<std::size_t> order = slowest_first(hosts);
  for (std::size_t i = 0; i < std::min(order.size(), kMaxHostsShown); ++i)
    bars.bars.push_back(bar_of_host(hosts[order[i]], order[i], analysis.has_busy));
  if (order.size() > bars.bars.size())
    bars.note += fmt::format(" Shown are {} of {} hosts.", bars.bars.size(), order.size());
  return drawn(bars);
}

}  // namespace loaderscope
