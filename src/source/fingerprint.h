// Fingerprint that shows whether two runs read the same data.
#pragma once

#include <cstdint>

#include "loaderscope/source.h"

namespace loaderscope::source {

// Hash of the number of samples, and of the names, places, lengths and file sizes of up to 1,024
// samples spread over the data. It is below 2^40, so that every JSON number can hold it.
std::int64_t fingerprint_of(const Source& source);

}  // namespace loaderscope::source
