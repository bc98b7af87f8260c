// What must be alike in two results that were measured apart, for them to be compared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"

namespace loaderscope::compare {

enum class Rule : std::uint8_t { forbids, warns };  // of a difference

struct ComparabilityRow {
  Row row;
  Rule rule;
  // How the two differ: "num-workers is 2 there and 4 here"; "" where they are alike.
  std::string (*difference)(const RunRecord& there, const RunRecord& here);
};
std::span<const ComparabilityRow> comparability_table();

struct Comparability {
  std::vector<std::string> forbids, warns;
  std::vector<std::string> settings;  // that differ: "num-workers 0 -> 2"; no reason to refuse
};
Comparability comparability_of(const RunRecord& there, const RunRecord& here);

}  // namespace loaderscope::compare
