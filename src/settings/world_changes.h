// Changes that only a model can make: the speed of a stage, the load of other programs.
#pragma once

#include <optional>
#include <string_view>

#include "loaderscope/settings.h"

namespace loaderscope {

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

// Makes what `config` declares of a stage smaller. False when it declares nothing of it.
bool make_faster(RunConfig& config, const Speedup& speedup);

}  // namespace loaderscope
