// What the operation `normalise` of a list comes to, for whoever normalises instead of the
// augmentation on the host.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "augment/kernels.h"
#include "augment/operation.h"

namespace loaderscope::augment {

// Nothing when the list has none. Throws ValueError for parameters that it does not take.
std::optional<Normalise> normalise_of(const std::vector<std::string>& operations);

// Of bytes: output = (value - subtract) x multiply.
Scaling scaling_of(const Normalise& normalise);

}  // namespace loaderscope::augment
