// Table of the hosts, the slowest first, with the distribution over all hosts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "analysis/host_rates.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "report/table_parts.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

constexpr std::size_t kChiefHosts = 3;

struct HostColumn {
  const char* name;
  double (*value)(const HostRate&);
  std::string (*show)(double value);
};

std::string format_sample_time(double ns) {
  return ns > 0 ? format_duration(std::llround(ns)) : "";
}
std::string format_host_bytes(double rate) { return rate > 0 ? format_byte_rate(rate) : ""; }
std::string format_samples(double rate) { return rate > 0 ? format_rate(rate) : "not known"; }
std::string format_few_cores(double cores) { return cores > 0 ? fmt::format("{:.3g}", cores) : ""; }

constexpr HostColumn kColumns[] = {
    {"samples/s", [](const HostRate& h) { return h.samples_per_s; }, format_samples},
    {"busy", [](const HostRate& h) { return busy_share(h.account); }, format_percent},
    {"own waits", [](const HostRate& h) { return h.own_waits(); }, format_percent},
    {"for others", [](const HostRate& h) { return h.waits_for_ranks(); }, format_percent},
    {"decode", [](const HostRate& h) { return h.decode_of_sample; }, format_sample_time},
    {"read", [](const HostRate& h) { return h.read_of_sample; }, format_sample_time},
    {"reads", [](const HostRate& h) { return h.read_bytes_per_s; }, format_host_bytes},
    {"cores", [](const HostRate& h) { return h.cores; }, format_few_cores},
};

bool is_shown(const HostColumn& column, const Analysis& analysis) {
  return analysis.has_busy || std::string_view(column.name) != "busy";
}

// Adds the minimum, the median and the maximum of each column over all hosts.
void add_spread(HostRows& rows, const std::vector<HostRate>& hosts, const Analysis& analysis) {
  constexpr std::pair<const char*, double> kRows[] = {{"least", 0}, {"half", 0.5}, {"most", 1}};
  for (const auto& [name, at] : kRows) {
    std::vector<std::string> cells = {name, ""};
    for (const HostColumn& column : kColumns) {
      std::vector<double> values;
      for (const HostRate& host : hosts) values.push_back(column.value(host));
      std::sort(values.begin(), values.end());
      const auto index = static_cast<std::size_t>(at * static_cast<double>(values.size() - 1));
      cells.push_back(is_shown(column, analysis) ? column.show(values[index]) : "");
    }
    cells.emplace_back();
    rows.table.add(std::move(cells));
    rows.is_chief.push_back(true);
  }
}

}  // namespace

HostRows host_table(const std::vector<HostRate>& hosts, const Analysis& analysis) {
  std::vector<std::string> header = {"host", "ranks"};
  for (const HostColumn& column : kColumns)
    header.emplace_back(is_shown(column, analysis) ? column.name : "");
  header.emplace_back("mostly for");
  HostRows rows{TextTable("lrrrrrrrrrl", std::move(header)), {}};
  const std::vector<std::size_t> order = slowest_first(hosts);
  for (std::size_t i = 0; i < std::min(order.size(), kMaxHostsShown); ++i) {
    const HostRate& host = hosts[order[i]];
    std::vector<std::string> cells = {host.name, std::to_string(host.ranks)};
    for (const HostColumn& column : kColumns)
      cells.push_back(is_shown(column, analysis) ? column.show(column.value(host)) : "");
    cells.push_back(chief_cause(host.account));
    rows.table.add(std::move(cells));
    rows.is_chief.push_back(i < kChiefHosts);
  }
  if (hosts.size() > 2) add_spread(rows, hosts, analysis);
  return rows;
}

std::string hosts_line(const std::vector<HostRate>& hosts) {
  if (hosts.empty()) return "";
  std::string text = plural(static_cast<std::int64_t>(hosts.size()), "host");
  if (const auto slow = limiting_host(hosts))
    text += fmt::format(", of which {} is the slowest: {}", hosts[*slow].name,
                        host_slowness(hosts, *slow));
  if (hosts.size() > kMaxHostsShown)
    text += fmt::format("; shown are {} that the others wait for most, and all are in the result",
                        kMaxHostsShown);
  return text;
}

std::string clocks_line(const std::vector<HostRecord>& hosts) {
  Nanos apart = 0, error = 0, drift = 0;
  for (const HostRecord& host : hosts) {
    if (!host.has_clock()) return "";
    apart = std::max(apart, std::abs(*host.clock_offset));
    error = std::max(error, *host.clock_error);
    const double drifted = value_of(host.metrics, metric::clock_drift_s).value_or(0);
    drift = std::max(drift, static_cast<Nanos>(std::llround(1e9 * std::abs(drifted))));
  }
  if (hosts.size() < 2) return "";
  return fmt::format("clocks of the hosts: up to {} apart, known to within {}, drifted by up to {}",
                     format_duration(apart), format_duration(error), format_duration(drift));
}

}  // namespace loaderscope
