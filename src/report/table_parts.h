// The parts of the table that stand below its account.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host_rates.h"
#include "loaderscope/report.h"
#include "report/text_table.h"

namespace loaderscope {

std::string metric_value(const Metric& metric);  // as a person reads it

// name, share, bar: compute first, then the causes by their seconds, `other` last. Rows of 0 are
// left out.
struct AccountLine {
  std::string name;
  Nanos per_step = 0;
  double share = 0;
  std::optional<Estimate> interval;  // of the share; not of several causes
  std::string remark;
};
std::vector<AccountLine> account_lines(const RunRecord& record, const Analysis& analysis);

// The account with its bars, within the width: header first. In short, what is small is one row.
TextTable account_table(const RunRecord& record, const Analysis& analysis,
                        const ReportStyle& style);

// The time of a copy to the device most often is the link's, and no thread of the host's was looked
// at.
bool has_readings(Stage stage, const StageStats& stats);

// The stages as their threads saw them, in the order of the way of a batch. In short, only those
// that took a noteworthy part of the threads' time.
struct StageRows {
  TextTable table;
  std::vector<bool> is_long;  // of each row: one of those that took longest
};
StageRows stage_table(const RunRecord& record, bool in_short);

// The longest wait: "decode 37.6 %"; "" of none.
std::string chief_cause(const Account& account);
// Of many only those that set the pace; the line says how many more there are, or is "".
TextTable rank_table(const RunRecord& record, const Analysis& analysis);
std::string more_ranks_line(const Analysis& analysis);
// Of a job on several hosts: those that set the pace first, of many only these, and behind them the
// least, the middle and the most of all hosts.
inline constexpr std::size_t kMaxHostsShown = 10;
struct HostRows {
  TextTable table;
  std::vector<bool> is_chief;  // of each row: one of the first, or of all hosts
};
HostRows host_table(const std::vector<HostRate>& hosts, const Analysis& analysis);
std::string hosts_line(const std::vector<HostRate>& hosts);     // "": there is one
std::string clocks_line(const std::vector<HostRecord>& hosts);  // "": they were not compared
// Of a program with more than one loader.
TextTable loader_table(const RunRecord& record);
TextTable metric_table(const RunRecord& record);
// Of a trace: the gaps of the GPU by what it waited for, the longest time first.
TextTable gap_table(const RunRecord& record);

// What this machine could give at most, where that is known.
inline constexpr std::string_view kCeilings[] = {"cores", "link", "decoding", "storage", "copying"};
struct Ceiling {
  std::string_view name;  // one of kCeilings
  std::string what;       // "2 cores at 989.9 us of CPU time per sample"
  double samples_per_s = 0;
  double reached = 0;  // share of it
};
std::vector<Ceiling> ceilings_of(const RunRecord& record, const Analysis& analysis);

// One sentence each, without a newline; "" when there is nothing to say.
std::string rate_line(const RunRecord& record, const Analysis& analysis);
std::string window_line(const RunRecord& record, const Analysis& analysis);
std::string ranks_line(const RunRecord& record, const Analysis& analysis);
std::string why_line(const Account& account);
std::string first_batch_line(const Analysis& analysis);
std::string ceiling_line(const RunRecord& record, const Analysis& analysis);
std::string probed_line(const RunRecord& record);
std::vector<std::string> queue_lines(const RunRecord& record);

}  // namespace loaderscope
