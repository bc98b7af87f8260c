// Replaces uring.cpp in a build without liburing.
#include "built_with.h"
#include "loaderscope/errors.h"
#include "source/kernel_access.h"

namespace loaderscope::source {

std::unique_ptr<Ring> make_uring(unsigned) { throw RunError(describe_missing(built_with::kUring)); }

std::optional<std::string> uring_refusal() { return describe_missing(built_with::kUring); }

}  // namespace loaderscope::source
