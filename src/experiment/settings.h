// The settings of a case: in force, as text, and what they cost.
#pragma once

#include <cstdint>

#include <compare>
#include <string>

#include "loaderscope/experiment.h"
#include "loaderscope/settings.h"

namespace loaderscope {

// `base` with `changes`, resolved. Throws UsageError and RunError.
RunConfig configure(const RunConfig& base, const Changes& changes, const MachineLimits& limits);

// Applies the properties of a third-party loader, measured in a run with `changes`, to all cases in
// which no flag sets them. Properties that the changes caused apply only to cases with the same
// changes.
void adopt_loader(Experiment& experiment, const RunConfig& measured, const Changes& changes = {});

// The value that a case has on an axis; "-" where it has none.
std::string setting_text(const Case& one, const std::string& key);

// In the order in which one would rather pay: workers, then the bytes of the host slots, then
// page-locked memory.
struct Price {
  std::int64_t workers = 0;  // sum over all ranks
  Bytes slots = 0;           // sum over all ranks
  int memory = 0;            // 0: pageable

  auto operator<=>(const Price&) const = default;
};
Price case_price(const RunConfig& config);

// Returns true if the values of an axis differ in their price.
bool has_price(const Axis& axis);

}  // namespace loaderscope
