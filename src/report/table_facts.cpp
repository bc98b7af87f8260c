// Facts of the measurement in three lines: the rates, the window, the ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/epochs.h"
#include "analysis/host_rates.h"
#include "analysis/stragglers.h"
#include "analysis/totals.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "record/family_traits.h"
#include "report/table_parts.h"

namespace loaderscope {
namespace {

constexpr double kHardly = 0.001;  // share of the window; a smaller wait for ranks is not shown

std::string epoch_words(const RunRecord& record, const Analysis& analysis) {
  if (!analysis.epoch_predicted_s || *analysis.epoch_predicted_s > 9e9) return "";
  return fmt::format("an epoch of {} takes {}{}", plural(record.config.data.samples, "sample"),
                     format_duration(std::llround(*analysis.epoch_predicted_s * 1e9)),
                     unseen_of_epoch(record, analysis));
}

template <class Value>
std::pair<double, double> value_range(const std::vector<Account>& accounts, const Value& value) {
  std::pair<double, double> range = {value(accounts.front()), value(accounts.front())};
  for (const Account& account : accounts) {
    range.first = std::min(range.first, value(account));
    range.second = std::max(range.second, value(account));
  }
  return range;
}

std::string straggler_words(const RunRecord& record, const Analysis& analysis) {
  const std::vector<Account>& ranks = analysis.rank_accounts;
  const auto waits = [](const Account& a) { return window_share(a.waiting_for_ranks, a); };
  const double most = value_range(ranks, waits).second;
  if (most <= kHardly && !record.config.trainer.sync_ranks) {
    std::vector<double> rates;
    for (const RankRecord& rank : record.ranks)
      rates.push_back(rank_rate(rank, &RankRecord::samples));
    const std::vector<std::size_t> slow = slowest_ranks(rates);
    // A program's may: in collectives that run on the host while the GPU is idle.
    const std::string alone = is_guest_engine(record.config.engine.value)
                                  ? "no wait of ranks for each other was seen"
                                  : "ranks do not wait for each other";
    if (slow.empty()) return "; " + alone;
    return fmt::format("; {} {} the slowest, {}", describe_ranks(slow),
                       slow.size() == 1 ? "is" : "are", alone);
  }
  if (most <= kHardly) return ", no straggler";
  const std::vector<std::size_t> slow = stragglers(ranks);
  if (slow.empty() || waits_for_common_reads(record, ranks[slow.front()], slow.front()))
    return fmt::format("; ranks wait for each other up to {} of the time", format_percent(most));
  const bool is_one = slow.size() == 1;
  return fmt::format("; {} {}, others wait up to {} of the time for {}", describe_ranks(slow),
                     is_one ? "is the straggler" : "are the stragglers", format_percent(most),
                     is_one ? "it" : "them");
}

}  // namespace

std::string rate_line(const RunRecord& record, const Analysis& analysis) {
  std::vector<std::string> parts;
  if (analysis.has_busy && analysis.samples > 0)
    parts.push_back(format_rate(analysis.samples_per_s));
  const Histogram& times = analysis.step_time;
  if (times.count() > 0) {
    parts.push_back(fmt::format("step {}, p99 {}",
                                format_duration(histogram_sum(times) / times.count()),
                                format_duration(times.quantile(0.99))));
  }
  const double read = per_second(record, &RankRecord::read_bytes).value_or(0);
  const double delivered = per_second(record, &RankRecord::delivered_bytes).value_or(0);
  if (read > 0) parts.push_back("reads " + format_byte_rate(read));
  if (delivered > 0) parts.push_back("delivers " + format_byte_rate(delivered));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string window_line(const RunRecord& record, const Analysis& analysis) {
  std::int64_t warmup = 0;
  for (const RankRecord& rank : record.ranks) warmup = std::max(warmup, rank.warmup_steps);
  std::string text = plural(analysis.steps, "step");
  if (record.ranks.size() > 1) text += " per rank";
  if (warmup > 0) text += fmt::format(" after {} of warm-up", format_count(warmup));
  if (analysis.steps >= kMinSteps && is_firm(analysis))
    text += analysis.steady ? ", steady" : ", not steady";
  text += "; " + format_duration(analysis.account.window);
  text += is_model_engine(record.engine) ? " of virtual time" : "";
  const std::string epoch = epoch_words(record, analysis);
  return epoch.empty() ? text : text + "; " + epoch;
}

std::string ranks_line(const RunRecord& record, const Analysis& analysis) {
  if (record.ranks.size() < 2 || analysis.steps == 0) return "";
  std::string text = plural(static_cast<std::int64_t>(record.ranks.size()), "rank");
  if (analysis.has_busy) {
    const auto [low, high] = value_range(analysis.rank_accounts, busy_share);
    const std::string least = format_percent(low), most = format_percent(high);
    text += least == most ? ": busy " + most : fmt::format(": busy {:.1f}-{}", 100 * low, most);
  } else if (analysis.samples > 0) {
    double low = rank_rate(record.ranks.front(), &RankRecord::samples), high = low;
    for (const RankRecord& rank : record.ranks) {
      low = std::min(low, rank_rate(rank, &RankRecord::samples));
      high = std::max(high, rank_rate(rank, &RankRecord::samples));
    }
    const std::string least = format_rate(low), most = format_rate(high);
    text += fmt::format(": {} samples/s each", least == most ? most : least + "-" + most);
  }
  return text + straggler_words(record, analysis);
}

}  // namespace loaderscope
