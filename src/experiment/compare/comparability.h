// Properties that two separately measured results must share before they can be compared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"

namespace loaderscope::compare {

enum class Rule : std::uint8_t { forbids, warns };  // effect of a difference

struct ComparabilityRow {
  Row row;
  Rule rule;
  // Returns the difference: "num-workers is 2 there and 4 here"; "" if they are alike.
  std::string (*difference)(const RunRecord& there, const RunRecord& here);
};
std::span<const ComparabilityRow> comparability_table();

struct Comparability {
  std::vector<std::string> forbids, warns;
  std::vector<std::string> settings;  // differences, such as "num-workers 0 -> 2"; allowed
};
Comparability check_comparability(const RunRecord& there, const RunRecord& here);

}  // namespace loaderscope::compare
