// A row per rank: what it waited for itself, and how long it waited for slower ranks.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "report/table_parts.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxRows = 16;  // limit for all ranks
constexpr std::size_t kWorst = 10;    // number of ranks shown if there are more

}  // namespace

std::vector<std::size_t> slowest_ranks_first(const RunRecord& record, const Analysis& analysis,
                                             std::size_t most) {
  std::vector<std::size_t> ranks(analysis.rank_accounts.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  if (ranks.size() <= most) return ranks;
  const auto key = [&](std::size_t rank) {
    const Account& account = analysis.rank_accounts[rank];
    return std::tuple(window_share(account.waiting_for_ranks, account),
                      rank_rate(record.ranks[rank], &RankRecord::samples), -account.idle(), rank);
  };
  std::partial_sort(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(most), ranks.end(),
                    [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  ranks.resize(most);
  return ranks;
}

std::string chief_cause(const Account& account) {
  const auto most = std::max_element(account.stall.begin(), account.stall.end());
  if (*most == 0) return "";
  const auto cause = static_cast<Cause>(most - account.stall.begin());
  return fmt::format("{} {}", shown_name(name_of(cause)),
                     format_percent(window_share(*most, account)));
}

TextTable rank_table(const RunRecord& record, const Analysis& analysis) {
  TextTable table("rrrrrl", {"rank", "samples/s", analysis.has_busy ? "busy" : "", "own waits",
                             "for other ranks", "mostly for"});
  const std::size_t most = analysis.rank_accounts.size() <= kMaxRows ? kMaxRows : kWorst;
  for (const std::size_t rank : slowest_ranks_first(record, analysis, most)) {
    const Account& account = analysis.rank_accounts[rank];
    const Nanos own = account.idle() - account.waiting_for_ranks;
    const double rate = rank_rate(record.ranks[rank], &RankRecord::samples);
    table.add({std::to_string(rank), rate > 0 ? format_rate(rate) : "not known",
               analysis.has_busy ? format_percent(busy_share(account)) : "",
               format_percent(window_share(own, account)),
               format_percent(window_share(account.waiting_for_ranks, account)),
               chief_cause(account)});
  }
  return table;
}

std::string more_ranks_line(const Analysis& analysis) {
  const std::size_t ranks = analysis.rank_accounts.size();
  if (ranks <= kMaxRows) return "";
  return fmt::format("these are the slowest; the other {} are in the result of --json",
                     plural(static_cast<std::int64_t>(ranks - kWorst), "rank"));
}

}  // namespace loaderscope
