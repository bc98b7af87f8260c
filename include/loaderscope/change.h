// Settings changed on top of those of another run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope {

// One setting: a key of a flag or scenario; or STAGE.speed, how many times faster a stage gets; or
// other-threads, how many threads of other programs take cores.
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

// How many threads of other programs want a core all of the time, where the change says so; like a
// speed only the model can change it. Throws UsageError.
inline constexpr std::string_view kOtherThreads = "other-threads";
std::optional<double> other_threads_of(const Change& change);

// Whether it is about the machine or the speed of a stage: a model can be told so, and no run can
// make it so.
bool is_of_world(const Change& change);

// The settings that were given in `base`, with those of `changes` in place of what they contradict;
// not resolved. Speeds are left to the caller. Throws UsageError.
RunConfig with_changes(const RunConfig& base, const Changes& changes);

// The same of a run whose settings are in force. What was not given and would follow from a change,
// such as the workers from the cores, is held at its value: nothing changes but what is named.
RunConfig counterfactual(const RunConfig& in_force, const Changes& changes);

// Makes what `config` declares of a stage smaller. False when it declares nothing of it.
bool make_faster(RunConfig& config, const Speedup& speedup);

}  // namespace loaderscope
