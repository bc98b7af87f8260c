// The parts of the table that stand below its account.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/report.h"

namespace loaderscope {

// name, share, bar: compute first, then the causes by their seconds, `other` last. Rows of 0 are
// left out.
struct AccountLine {
  std::string name;
  Nanos per_step = 0;
  double share = 0;
  std::optional<double> half_width;  // of the share's interval; not of several causes
  std::string remark;
};
std::vector<AccountLine> account_lines(const RunRecord& record, const Analysis& analysis);

// The account with its bars, within the width: header first. In short, what is small is one row.
std::vector<std::string> account_table(const RunRecord& record, const Analysis& analysis,
                                       const ReportStyle& style);

// The stages as their threads saw them, in the order of the way of a batch. In short, only those
// that took a noteworthy part of the threads' time.
struct StageRows {
  std::string header;
  struct StageLine {
    std::string text;
    bool is_long;  // one of those that took longest
  };
  std::vector<StageLine> rows;
};
StageRows stage_table(const RunRecord& record, bool in_short);

std::vector<std::string> rank_table(const RunRecord& record, const Analysis& analysis);
// Of a program with more than one loader.
std::vector<std::string> loader_table(const RunRecord& record);
std::vector<std::string> metric_lines(const RunRecord& record, int width);

// What this machine could give at most, where that is known.
struct Ceiling {
  std::string_view name;  // cores, link
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
std::vector<std::string> queue_lines(const RunRecord& record);

}  // namespace loaderscope
