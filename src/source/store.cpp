#include "source/store.h"

#include <algorithm>
#include <array>

namespace loaderscope::source {
namespace {

constexpr std::array<std::string_view, 3> kSchemes = {"https://", "http://", "s3://"};

}  // namespace

bool is_remote(std::string_view path) {
  return std::any_of(kSchemes.begin(), kSchemes.end(),
                     [&](std::string_view scheme) { return path.starts_with(scheme); });
}

const ObjectStore& store_of(std::string_view path) {
  return is_remote(path) ? remote_store() : local_store();
}

}  // namespace loaderscope::source
