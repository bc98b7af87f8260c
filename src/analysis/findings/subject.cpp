#include "analysis/findings/subject.h"

#include <algorithm>

#include "analysis/host_rates.h"
#include "analysis/stragglers.h"
#include "analysis/totals.h"

namespace loaderscope {
namespace {

constexpr double kMuchWaitedFor = 0.05;  // share of the window
constexpr double kFarSlower = 1.5;       // times the mean rate of the others

Analysis slowest_analysis(const RunRecord& record, const Analysis& analysis) {
  Analysis subject = analysis;
  const std::vector<std::size_t> slow = ranks_of_subject(record, analysis);
  if (slow.empty()) return subject;
  std::vector<Account> own;
  for (const std::size_t rank : slow) own.push_back(analysis.rank_accounts[rank]);
  subject.account = mean_account(own);
  return subject;
}

}  // namespace

Subject::Subject(const RunRecord& record, const Analysis& analysis)
    : analysis_(slowest_analysis(record, analysis)), facts_(record, analysis_) {
  const std::vector<std::size_t> slow = ranks_of_subject(record, analysis);
  if (slow.empty()) return;
  facts_.stages = {};
  for (const std::size_t rank : slow) {
    for (std::size_t s = 0; s < kStages; ++s)
      facts_.stages.at(s).merge(record.ranks[rank].stages.at(s));
  }
}

std::vector<std::size_t> ranks_waited_for(const RunRecord& record, const Analysis& analysis) {
  const std::vector<Account>& ranks = analysis.rank_accounts;
  if (ranks.size() < 2 || limiting_host(host_rates(record, analysis))) return {};
  std::vector<std::size_t> slow = stragglers(ranks);
  double most = 0;
  for (const Account& rank : ranks)
    most = std::max(most, window_share(rank.waiting_for_ranks, rank));
  if (slow.empty() || most < kMuchWaitedFor ||
      waits_for_common_reads(record, ranks[slow.front()], slow.front()))
    return {};
  return slow;
}

std::vector<std::size_t> ranks_of_subject(const RunRecord& record, const Analysis& analysis) {
  std::vector<std::size_t> slow = ranks_waited_for(record, analysis);
  if (!slow.empty() || record.config.trainer.sync_ranks || record.hosts.size() > 1) return slow;
  std::vector<double> rates;
  double all = 0;
  for (const RankRecord& rank : record.ranks) {
    rates.push_back(rank_rate(rank, &RankRecord::samples));
    all += rates.back();
  }
  slow = slowest_ranks(rates);
  if (slow.empty()) return slow;
  double own = 0;
  for (const std::size_t rank : slow) own += rates[rank];
  const auto count = static_cast<double>(slow.size()), ranks = static_cast<double>(rates.size());
  const bool is_far = kFarSlower * own / count <= (all - own) / (ranks - count);
  return is_far ? slow : std::vector<std::size_t>{};
}

}  // namespace loaderscope
