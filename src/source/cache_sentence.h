// Text about the page cache in answers.
#pragma once

#include <string>

#include "source/cache_state.h"
#include "source/file_system.h"

namespace loaderscope::source {

std::string describe_cache(const CacheProof& state, const FileSystemKind& kind, Bytes memory);

}  // namespace loaderscope::source
