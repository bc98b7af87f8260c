// Findings about the hosts of a job: one that the others wait for, or what all of them share.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/findings/finding_input.h"
#include "analysis/host_rates.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kAlikeReads = 1.5;     // times the least of what a read takes, or is waited for
constexpr double kLevel = 0.2;          // share of the mean rate by which it may vary
constexpr double kReadsWaited = 0.05;   // share of the time, on each host
constexpr double kBlocked = 0.5;        // share of the time of reads that is blocked
constexpr std::size_t kParts = 10;      // parts of a window
constexpr std::int64_t kMinInPart = 4;  // steps

double reads_waited(const HostRate& host) {
  return window_share(host.account.stall[Cause::read], host.account);
}

template <class Value>
std::pair<double, double> range_over(const std::vector<HostRate>& hosts, const Value& value) {
  double least = value(hosts.front()), most = least;
  for (const HostRate& host : hosts) {
    least = std::min(least, value(host));
    most = std::max(most, value(host));
  }
  return {least, most};
}

// Adds what came from `begin` to `end`, in parts, to those that it came in.
void add_spread(std::array<double, kParts>& sums, double begin, double end, double samples) {
  if (end <= begin) return;
  const auto first = static_cast<std::size_t>(std::max(begin, 0.0));
  for (std::size_t part = first; part < kParts && static_cast<double>(part) < end; ++part) {
    const auto from = static_cast<double>(part);
    sums.at(part) += samples * (std::min(end, from + 1) - std::max(begin, from)) / (end - begin);
  }
}

// Returns the variation of the samples per second of all ranks over the window: the standard
// deviation of the rates of its parts, divided by their mean. Each rank's window is cut separately,
// as the ranks may have different clocks.
double unsteadiness(const RunRecord& record) {
  std::array<double, kParts> sums{};
  for (const RankRecord& rank : record.ranks) {
    if (rank.steps() < kMinInPart * static_cast<std::int64_t>(kParts)) return 1;
    const double length = static_cast<double>(rank.window()) / kParts;
    if (length <= 0) return 1;
    rank.rows.for_each(
        [&](const StepRow& row) {
          const auto at = [&](Nanos time) {
            return static_cast<double>(time - rank.window_begin) / length;
          };
          add_spread(sums, at(row.idle_begin), at(row.compute_end), row.samples);
        },
        rank.warmup_steps);
  }
  double sum = 0, squares = 0;
  for (const double part : sums) {
    sum += part;
    squares += part * part;
  }
  const double mean = sum / kParts;
  return mean > 0 ? std::sqrt(std::max(0.0, squares / kParts - mean * mean)) / mean : 1;
}

std::string range_words(double least, double most) {
  const std::string upper = format_percent(most);
  return format_percent(least) == upper ? upper : fmt::format("{:.1f}-{}", 100 * least, upper);
}

bool reads_are_blocked(const FindingInput& facts) {
  const StageStats& read = facts.stages[Stage::read];
  return read.wall > 0 &&
         static_cast<double>(read.blocked()) >= kBlocked * static_cast<double>(read.wall);
}

}  // namespace

std::optional<Candidate> straggler_host(const FindingInput& facts) {
  const std::vector<HostRate> hosts = host_rates(facts.record, facts.analysis);
  const std::optional<std::size_t> slow = limiting_host(hosts);
  if (!slow) return std::nullopt;
  const double most =
      range_over(hosts, [](const HostRate& h) { return h.waits_for_ranks(); }).second;
  return Candidate{
      fmt::format("{} is the slowest: the others wait up to {} of the time for it, and {}",
                  hosts[*slow].name, format_percent(most), host_slowness(hosts, *slow)),
      {},
      "look at " + where_to_look(hosts, *slow)};
}

std::optional<Candidate> shared_storage(const FindingInput& facts) {
  const std::vector<HostRate> hosts = host_rates(facts.record, facts.analysis);
  if (hosts.size() < 2 || !reads_are_blocked(facts) || !bandwidth_is_full(facts))
    return std::nullopt;
  const auto [least, most] = range_over(hosts, reads_waited);
  const auto [fast, slow] = range_over(hosts, [](const HostRate& h) { return h.read_of_sample; });
  if (least < kReadsWaited || slow > kAlikeReads * fast) return std::nullopt;
  const double moves = unsteadiness(facts.record);
  if (moves > kLevel) return std::nullopt;
  double bytes = 0;
  for (const HostRate& host : hosts) bytes += host.read_bytes_per_s;
  return Candidate{
      fmt::format("all {} hosts wait for reads ({} of the time), which take as long on each; "
                  "together they read {}, level within {}: the storage that they share gives no "
                  "more, or that of each alike",
                  hosts.size(), range_words(least, most), format_byte_rate(bytes),
                  format_percent(moves)),
      {{{"read.speed", "2"}}},
      fmt::format("store fewer bytes per sample ({}), {}or get more of the storage that the hosts "
                  "share ('loaderscope plan --storage' says how much a job needs)",
                  facts.has_arrays() ? "float16 or uint8" : "smaller images, quality 85",
                  facts.metric(metric::range_cache_size) > 0
                      ? ""
                      : "keep what is read again on each host (--cache-dir), ")};
}

}  // namespace loaderscope
