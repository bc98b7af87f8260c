// A row per rank: what it waited for itself, and how long it waited for slower ranks.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "report/table_parts.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMostRows = 16;

std::string chief_cause(const Account& account) {
  const auto most = std::max_element(account.stall.begin(), account.stall.end());
  if (*most == 0) return "";
  const auto cause = static_cast<Cause>(most - account.stall.begin());
  return fmt::format("{} {}", name_of(cause), show_percent(share_of(*most, account)));
}

}  // namespace

TextTable rank_table(const RunRecord& record, const Analysis& analysis) {
  const std::size_t ranks = analysis.rank_accounts.size();
  TextTable table("rrrrrl", {"rank", "samples/s", analysis.has_busy ? "busy" : "", "own waits",
                             "for other ranks", "chiefly"});
  for (std::size_t rank = 0; rank < std::min(ranks, kMostRows); ++rank) {
    const Account& account = analysis.rank_accounts[rank];
    const Nanos own = account.idle() - account.waiting_for_ranks;
    const double rate = rate_of(record.ranks[rank], &RankRecord::samples);
    table.add({std::to_string(rank), rate > 0 ? show_rate(rate) : "not known",
               analysis.has_busy ? show_percent(busy_of(account)) : "",
               show_percent(share_of(own, account)),
               show_percent(share_of(account.waiting_for_ranks, account)), chief_cause(account)});
  }
  return table;
}

std::string more_ranks_line(const Analysis& analysis) {
  const std::size_t ranks = analysis.rank_accounts.size();
  if (ranks <= kMostRows) return "";
  return fmt::format("the other {} {} in the result of --json",
                     plural(static_cast<std::int64_t>(ranks - kMostRows), "rank"),
                     ranks - kMostRows == 1 ? "is" : "are");
}

}  // namespace loaderscope
