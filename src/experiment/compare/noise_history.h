// How far runs of the same code differ on this machine, from process to process: what one run of
// each arm is judged by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "experiment/compare/compare.h"
#include "experiment/history_file.h"

namespace loaderscope::compare {

// Of the lines "CPU-SECONDS RATE MACHINE" of a history, the widest of the latest of this machine.
// Those that cannot be read count for nothing.
std::optional<KnownNoise> spread_in(std::string_view lines, std::string_view machine);

class NoiseHistory {
 public:
  // Kept in `folder`, which need not exist; "" keeps nothing.
  NoiseHistory(const std::string& folder, const MachineFacts& machine);

  void add(const ComparisonResult& judgement) const;  // best effort
  std::optional<KnownNoise> summary() const;

 private:
  HistoryFile lines_;
  std::string machine_;
};

}  // namespace loaderscope::compare
