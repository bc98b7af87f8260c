// The proof for people.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

// "proved: decode knocked out -> predicted 97.0 %, measured 97.1 % busy (96.8-97.4); ..." One
// sentence per case, or why there is none; nothing without a proof, or where it is a differential.
std::vector<std::string> proof_lines(const Analysis& analysis);

// The differential: what the way of a batch costs, from the device back to the disk.
struct DifferentialRow {
  std::string name;
  std::string busy, rate, per_step;  // "99.8 % (99.7-99.9)", "6,400 (6,380-6,420)", "10.00 ms"
  std::string costs;                 // "+7.10 ms"
  std::string remark;                // cause of the costs, or the reason for missing numbers
};
std::vector<DifferentialRow> differential_rows(const RunRecord& record, const Analysis& analysis);
inline constexpr const char* kDifferentialHeader[] = {
    "proved by leaving out", "busy", "samples/s", "per step", "costs", ""};

}  // namespace loaderscope
