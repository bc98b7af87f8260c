// The table of settings in the answers of tune and sweep.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "loaderscope/experiment.h"
#include "report/answer/answer.h"
#include "report/text_table.h"

namespace loaderscope {

// One setting: "  ->    8         800     100 %  fewest within 3 % of the best".
struct SettingRow {
  std::size_t number = 0;  // number of its case
  double samples_per_s = 0;
  std::optional<double> busy{};
  bool is_marked = false;
  std::string remark{};
};

// The axes of several values, the number of workers first.
std::vector<const Axis*> axes_by_importance(const Experiment& experiment);

// Cases that differ from `around` on the first `varied` of these axes at most, by their values.
std::vector<std::size_t> cases_around(const Experiment& experiment, std::size_t around,
                                      std::size_t varied);

// Returns true if two cases have the same values on all of these axes but the first.
bool is_same_except_first(const Experiment& experiment, std::size_t one, std::size_t other);

// Returns "num_workers=8": the first setting in which the two cases differ. Without a second case,
// the first setting.
std::string first_difference(const Experiment& experiment, std::size_t one,
                             std::optional<std::size_t> other);

// Columns are the axes that vary among the rows, at most two, then the rate and the busy share.
TextTable settings_table(const Experiment& experiment, const std::vector<SettingRow>& rows,
                         const std::string& busy_heading);

// Adds "(simulated GPU)" to line 1, or to the last line if line 1 is full.
void name_simulated_gpu(Answer& answer, const RunConfig& config);

}  // namespace loaderscope
