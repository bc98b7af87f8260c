// Differences between runs of the same code on this machine, from process to process. They are the
// noise for comparisons with one run of each arm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "experiment/compare/compare.h"
#include "experiment/prediction_history.h"

namespace loaderscope::compare {

// Reads lines "CPU-SECONDS RATE MACHINE" of a history and returns the widest of the latest of this
// machine. Ignores lines that it cannot read.
std::optional<KnownNoise> find_noise(std::string_view lines, std::string_view machine);

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
