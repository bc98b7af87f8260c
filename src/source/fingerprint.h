// By what two runs can tell that they read the same data.
#pragma once

#include <cstdint>

#include "loaderscope/source.h"

namespace loaderscope::source {

// Of the number of samples and, of up to 1,024 that are spread over them, the names of files, the
// places in them and lengths, and the sizes of the files. Below 2^40, so that any number of JSON
// holds it.
std::int64_t fingerprint_of(const Source& source);

}  // namespace loaderscope::source
