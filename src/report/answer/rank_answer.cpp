#include "report/answer/rank_answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/subject.h"
#include "analysis/host_rates.h"
#include "analysis/stragglers.h"
#include "analysis/totals.h"
#include "report/answer/cause_phrases.h"
#include "report/answer/fix_words.h"
#include "report/answer/plain_figures.h"

namespace loaderscope {
namespace {

constexpr double kMinWait = 0.05;  // share of the window
constexpr std::size_t kMaxRows = 4;

Cause largest_own_cause(const Account& account) {
  const auto largest = std::max_element(account.stall.begin(), account.stall.end());
  return static_cast<Cause>(largest - account.stall.begin());
}

double wait_for_ranks(const Account& account) {
  return window_share(account.waiting_for_ranks, account);
}

double own_loader(const Account& account) {
  return window_share(account.idle() - account.waiting_for_ranks, account);
}

struct RankRow {
  std::vector<std::size_t> ranks;
  std::string busy, own, waits;
};

std::string numbers(const std::vector<std::size_t>& ranks) {
  constexpr std::size_t kMaxNumbers = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMaxNumbers); ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "", ranks[i]);
  if (ranks.size() > kMaxNumbers) text += fmt::format(" and {} more", ranks.size() - kMaxNumbers);
  return text;
}

// Returns a line for each group of ranks with the same numbers.
std::vector<RankRow> rank_rows(const Analysis& analysis, const std::vector<std::size_t>& slow) {
  std::vector<RankRow> rows;
  for (std::size_t rank = 0; rank < analysis.rank_accounts.size(); ++rank) {
    const Account& account = analysis.rank_accounts[rank];
    if (account.window <= 0) continue;
    const bool is_slow = std::find(slow.begin(), slow.end(), rank) != slow.end();
    RankRow row{{rank},
                whole_percent(busy_share(account)),
                whole_percent(own_loader(account)),
                is_slow ? "-" : whole_percent(wait_for_ranks(account))};
    const auto alike = std::find_if(rows.begin(), rows.end(), [&](const RankRow& one) {
      return one.busy == row.busy && one.own == row.own && one.waits == row.waits;
    });
    if (alike == rows.end())
      rows.push_back(std::move(row));
    else
      alike->ranks.push_back(rank);
  }
  return rows;
}

TextTable rank_answer_table(const Analysis& analysis, const std::vector<std::size_t>& slow) {
  std::vector<RankRow> rows = rank_rows(analysis, slow);
  const std::string waits = slow.size() == 1 ? fmt::format("waits for rank {}", slow.front())
                                             : std::string("waits for them");
  TextTable table("lrrr", {"rank", "GPU busy", "own loader", waits});
  // The slow ranks and those that wait longest are enough.
  std::stable_sort(rows.begin(), rows.end(), [](const RankRow& a, const RankRow& b) {
    return (a.waits == "-") > (b.waits == "-");
  });
  if (rows.size() > kMaxRows) rows.resize(kMaxRows);
  std::stable_sort(rows.begin(), rows.end(), [](const RankRow& a, const RankRow& b) {
    return a.ranks.front() < b.ranks.front();
  });
  for (const RankRow& row : rows) table.add({numbers(row.ranks), row.busy, row.own, row.waits});
  return table;
}

const Finding* find_finding(const Analysis& analysis, std::string_view id) {
  for (const Finding& finding : analysis.findings)
    if (finding.id == id) return &finding;
  return nullptr;
}

std::optional<Answer> answer_slow_host(const RunRecord& record, const Analysis& analysis) {
  const std::vector<HostRate> hosts = host_rates(record, analysis);
  const std::optional<std::size_t> slow = limiting_host(hosts);
  if (!slow) return std::nullopt;
  Answer answer;
  double waits = 0;
  for (const HostRate& host : hosts) waits = std::max(waits, host.waits_for_ranks());
  if (waits < kMinWait) return std::nullopt;
  answer.headline = fmt::format("Host {} holds up all {} hosts: they wait {} of the time for it",
                                hosts[*slow].name, hosts.size(), whole_percent(waits));
  answer.tone = LineTone::bad;
  answer.first.push_back({"Fix", "look at " + plain_figures(where_to_look(hosts, *slow))});
  answer.first.push_back({"Why", plain_figures(host_slowness(hosts, *slow))});
  TextTable table("lrrr", {"host", "GPUs busy", "own waits", "waits for " + hosts[*slow].name});
  std::size_t shown = 0;
  for (const std::size_t i : slowest_first(hosts)) {
    const HostRate& host = hosts[i];
    if (!host.is_measured() || ++shown > kMaxRows) continue;
    table.add({host.name, whole_percent(busy_share(host.account)), whole_percent(host.own_waits()),
               i == *slow ? "-" : whole_percent(host.waits_for_ranks())});
  }
  answer.table = table;
  answer.last.push_back({"More", "-v, --html page.html    Learn: explain straggler-host"});
  return answer;
}

}  // namespace

std::optional<Answer> answer_slow_rank(const RunRecord& record, const Analysis& analysis) {
  if (analysis.verdict.withheld_reason) return std::nullopt;
  if (record.hosts.size() > 1)
    if (std::optional<Answer> slow_host = answer_slow_host(record, analysis)) return slow_host;
  const std::vector<std::size_t> slow = ranks_waited_for(record, analysis);
  if (slow.empty()) return std::nullopt;
  double waits = 0;
  for (const Account& account : analysis.rank_accounts)
    waits = std::max(waits, wait_for_ranks(account));
  if (waits < kMinWait) return std::nullopt;
  const Account& own = analysis.rank_accounts[slow.front()];
  const Cause cause = largest_own_cause(own);
  const bool is_one = slow.size() == 1;
  Answer answer;
  answer.tone = LineTone::bad;
  std::string who = describe_ranks(slow);
  who[0] = 'R';
  answer.headline = fmt::format(
      "{} {} up {} {}: they wait {} of the time for its {}", who, is_one ? "holds" : "hold",
      record.ranks.size() == 2 ? "both" : fmt::format("all {}", record.ranks.size()),
      analysis.has_busy ? "GPUs" : "ranks", whole_percent(waits), cause_noun(cause));
  if (!is_one)
    answer.headline =
        fmt::format("{} hold up the others, which wait {} of the time", who, whole_percent(waits));
  const Finding* finding = find_finding(analysis, kStragglerRank);
  const std::string names = describe_ranks(slow);
  answer.first.push_back({"Fix", finding != nullptr
                                     ? plain_figures(short_advice(finding->pytorch))
                                     : fmt::format("look at {}: {}", names, cause_noun(cause))});
  if (finding != nullptr) {
    // The last clause has the times of the slow rank and of the others.
    std::string why = finding->evidence;
    if (const std::size_t at = why.rfind(": "); at != why.npos) why = why.substr(at + 2);
    why = plain_figures(why);
    if (!has_technical_word(why)) answer.first.push_back({"Why", why});
  }
  answer.table = rank_answer_table(analysis, slow);
  answer.last.push_back({"More", "-v, --html page.html    Learn: explain straggler-rank"});
  return answer;
}

}  // namespace loaderscope
