// The parts of the table that stand below its account.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "loaderscope/report.h"

namespace loaderscope {

// name, share, bar: compute first, then the causes by their seconds, `other` last. Rows of 0 are
// left out.
struct AccountLine {
  std::string name;
  Nanos per_step = 0;
  double share = 0;
  double half_width = 0;  // of the share's interval
  std::string remark;
};
std::vector<AccountLine> account_lines(const RunRecord& record, const Analysis& analysis);

void write_stage_table(std::ostream& out, const RunRecord& record);
void write_rank_table(std::ostream& out, const RunRecord& record, const Analysis& analysis);
void write_metrics(std::ostream& out, const RunRecord& record, int width);

// One sentence each, without a newline; "" when there is nothing to say.
std::string why_line(const Account& account);
std::string first_batch_line(const Analysis& analysis);
std::string ceiling_line(const RunRecord& record, const Analysis& analysis);
std::vector<std::string> queue_lines(const RunRecord& record);

}  // namespace loaderscope
