// Residency of a file in the page cache.
#pragma once

#include <optional>
#include <string_view>

#include "loaderscope/units.h"

namespace loaderscope::source {

struct Residency {
  Bytes size = 0;
  Bytes resident = 0;
  bool may_be_dirty = true;  // some pages may not be written back
};

// Methods to ask the kernel, the best first.
enum class ResidencyMethod { cachestat, mincore, none };
std::string_view name_of(ResidencyMethod method);

// Returns the best method of this kernel. For files that this user may not write, mincore reports
// all pages as resident.
ResidencyMethod best_residency_method();

// Returns the residency of an open regular file, or nothing if the kernel does not report it.
std::optional<Residency> read_residency(int fd, ResidencyMethod method);
// Returns the residency of a part of it.
std::optional<Residency> read_residency(int fd, ResidencyMethod method, Bytes offset, Bytes length);

}  // namespace loaderscope::source
