// How much of a file lies in the page cache.
#pragma once

#include <optional>
#include <string_view>

#include "loaderscope/units.h"

namespace loaderscope::source {

struct Residency {
  Bytes size = 0;
  Bytes resident = 0;
  bool may_be_dirty = true;  // some pages wait to be written
};

// The ways to ask the kernel, the best first.
enum class ResidencyMethod { cachestat, mincore, none };
std::string_view name_of(ResidencyMethod method);

// What this kernel has. mincore tells nothing of files that this user may not write: it calls all
// of their pages resident.
ResidencyMethod best_residency_method();

// Of an open regular file; nothing when the kernel does not tell.
std::optional<Residency> residency_of(int fd, ResidencyMethod method);
// Of a part of it.
std::optional<Residency> residency_of(int fd, ResidencyMethod method, Bytes offset, Bytes length);

}  // namespace loaderscope::source
