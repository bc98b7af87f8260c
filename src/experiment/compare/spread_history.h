// How far runs of the same code differ on this machine, from process to process: what one run of
// each arm is judged by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "experiment/compare/compare.h"
#include "experiment/line_history.h"

namespace loaderscope::compare {

// Of the lines "CPU-SECONDS RATE MACHINE" of a history, the widest of the latest of this machine.
// Those that cannot be read count for nothing.
std::optional<KnownSpread> spread_in(std::string_view lines, std::string_view machine);

class SpreadHistory {
 public:
  // Kept in `folder`, which need not exist; "" keeps nothing.
  SpreadHistory(const std::string& folder, const MachineFacts& machine);

  void add(const Judgement& judgement) const;  // best effort
  std::optional<KnownSpread> summary() const;

 private:
  LineHistory lines_;
  std::string machine_;
};

}  // namespace loaderscope::compare
