// Values of the operation `normalise` in a list, for code that normalises in place of the
// augmentation on the host.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "augment/kernels.h"
#include "augment/operation.h"

namespace loaderscope::augment {

// Returns nothing if the list has none. Throws ValueError for unsupported parameters.
std::optional<Normalise> normalise_of(const std::vector<std::string>& operations);

// Returns the scaling of bytes: output = (value - subtract) x multiply.
Scaling scaling_of(const Normalise& normalise);

}  // namespace loaderscope::augment
