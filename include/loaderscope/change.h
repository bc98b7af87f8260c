// Settings changed on top of those of another run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/run_config.h"

namespace loaderscope {

// One setting: a key of a flag or scenario, or STAGE.speed, how many times faster a stage gets.
struct Change {
  std::string key;
  std::string value;

  bool operator==(const Change&) const = default;
};
using Changes = std::vector<Change>;

Change parse_change(std::string_view text);  // "workers=8"; throws UsageError
std::string spell_changes(const Changes& changes);

// The stage and the factor of a STAGE.speed; nothing for a setting. Throws UsageError.
struct Speedup {
  Stage stage;
  double factor;
};
std::optional<Speedup> speedup_of(const Change& change);

// The settings that were given in `base`, with those of `changes` in place of what they contradict;
// not resolved. Speeds are left to the caller. Throws UsageError.
RunConfig with_changes(const RunConfig& base, const Changes& changes);

// Makes what `config` declares of a stage smaller. False when it declares nothing of it.
bool make_faster(RunConfig& config, const Speedup& speedup);

}  // namespace loaderscope
