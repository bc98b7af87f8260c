// compare --bisect GOOD BAD
#pragma once

#include <functional>

#include "cli/compare_flags.h"

namespace loaderscope {

// The comparison of GOOD with the first commit that is slower, which it names; of GOOD with BAD
// where that is none. Throws as CompareArms does.
compare::Comparison bisect_refs(const CompareFlags& flags, const RunConfig& base,
                                const compare::Options& options,
                                const std::function<bool()>& stopped);

}  // namespace loaderscope
