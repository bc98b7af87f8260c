// Parts that the tables of sweep and tune share.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "experiment/case_statistics.h"
#include "loaderscope/experiment.h"
#include "loaderscope/report.h"

namespace loaderscope {

// "num-workers=4 prefetch-factor=2 memory=pageable": the values on all axes.
std::string settings_text(const Experiment& experiment, const Case& one);
// The value of a case on an axis, where it is a number.
std::optional<double> number_on(const Case& one, const Axis& axis);
// Returns the axes with several values, all of them numbers of 0 or more.
std::vector<const Axis*> numeric_axes(const Experiment& experiment);
std::string column_name(const Axis& axis);    // "workers": the short name of a flag
std::string rate_text(const Estimate& rate);  // 1,386 ±1.1 %, or 1,386 987-1,945
std::string busy_text(const Estimate& busy);  // 96.8 ±0.5, or 96.8 90.1-99.9
std::string bytes_text(double bytes);         // "" for 0 bytes

using Estimates = std::vector<std::optional<Estimate>>;  // one per case; empty if the case did not
                                                         // run
Estimates case_rates(const Experiment& experiment, const CaseStatistics& judgement);

// The case of a plot that a caret points at, and what it is.
struct MarkedCase {
  std::optional<std::size_t> number;
  std::string_view word;  // "knee"
};

// Returns the intervals along the first axis of numbers; empty for fewer than three values.
std::vector<std::string> rate_plot(const Experiment& experiment, const Estimates& rates,
                                   const MarkedCase& marked, int width);

std::string spent_text(const Experiment& experiment);  // 31.20 s, 40.78 s of virtual time

// Returns one letter per part of the account: "####dddda.". bar_legend() explains the letters.
std::string account_bar(const Account& account, int columns);
std::string bar_legend(const std::vector<Case>& cases);

// Means over the runs of a case.
double busy_cores(const Case& one);  // mean number of cores that its CPU time kept busy
std::optional<double> cpu_per_thousand(const Case& one);
double mean_bytes(const Case& one, Bytes CaseRun::*bytes);

}  // namespace loaderscope
