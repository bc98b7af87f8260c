// Parts of the table below its account.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host_rates.h"
#include "loaderscope/report.h"
#include "report/text_table.h"

namespace loaderscope {

std::string metric_value(const Metric& metric);  // value for people

// name, share, bar: compute first, then the causes by their seconds, `other` last. Rows of 0 are
// left out.
struct AccountLine {
  std::string name;   // compute or a cause; "" for a sum
  std::string label;  // name in text
  Nanos per_step = 0;
  double share = 0;
  std::optional<Estimate> interval;  // interval of the share; empty for a sum of causes
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
  std::vector<bool> is_long;  // one per row: the row is among the longest
};
StageRows stage_table(const RunRecord& record, bool brief);

// Returns the longest wait: "decode 37.6 %"; "" without waits.
std::string chief_cause(const Account& account);
// Returns at most `most` ranks. If there are more, these are the ranks that the others wait for.
// Among equal ranks, the slowest come first.
std::vector<std::size_t> slowest_ranks_first(const RunRecord& record, const Analysis& analysis,
                                             std::size_t most);
// Returns the ranks. If there are many, only the slowest. more_ranks_line() counts the others, or
// is "".
TextTable rank_table(const RunRecord& record, const Analysis& analysis);
std::string more_ranks_line(const Analysis& analysis);
// Returns the hosts of a job, the slowest first. If there are many, only these, followed by the
// minimum, the median and the maximum of all hosts.
inline constexpr std::size_t kMaxHostsShown = 10;
struct HostRows {
  TextTable table;
  std::vector<bool> is_chief;  // one per row: the row is among the first, or about all hosts
};
HostRows host_table(const std::vector<HostRate>& hosts, const Analysis& analysis);
std::string hosts_line(const std::vector<HostRate>& hosts);     // "": there is one
std::string clocks_line(const std::vector<HostRecord>& hosts);  // "": they were not compared
// Returns the loaders of a program with more than one loader.
TextTable loader_table(const RunRecord& record);
TextTable metric_table(const RunRecord& record);
// Returns the gaps of the GPU in a trace by cause, the longest time first.
TextTable gap_table(const RunRecord& record);

// Known limits of this machine.
inline constexpr std::string_view kCeilings[] = {"cores", "link", "decoding", "storage", "copying"};
struct Ceiling {
  std::string_view name;  // one of kCeilings
  std::string what;       // "2 cores at 989.9 us of CPU time per sample"
  double samples_per_s = 0;
  double reached = 0;  // reached share of it
};
std::vector<Ceiling> list_ceilings(const RunRecord& record, const Analysis& analysis);

// One sentence each, without a newline; "" when there is nothing to say.
std::string rate_line(const RunRecord& record, const Analysis& analysis);
std::string window_line(const RunRecord& record, const Analysis& analysis);
// "" if no GPU was to decode.
std::string decoding_line(const RunRecord& record);
// "GPU work per step: decode 1.98 ms, augment 64.0 us; 1.90 ms of it during compute". "" if the GPU
// does nothing for the loader.
std::string device_work_line(const RunRecord& record, const Analysis& analysis);
std::string ranks_line(const RunRecord& record, const Analysis& analysis);
// Begins why_line(), so that the page can link the words in it.
inline constexpr std::string_view kWhyLineBegin = "Waiting for batches takes ";
std::string why_line(const Account& account);
std::string first_batch_line(const Analysis& analysis);
std::string ceiling_line(const RunRecord& record, const Analysis& analysis);
std::string probed_line(const RunRecord& record);
std::vector<std::string> queue_lines(const RunRecord& record);

}  // namespace loaderscope
