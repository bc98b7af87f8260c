// The only file here that knows the folder of the build: the others are compiled once for all
// builds with the same flags.
#include "cli/built.h"

#include <string_view>

namespace loaderscope::testing_cli {

const std::string& binary() {
  static const std::string path = LOADERSCOPE_BINARY;
  return path;
}

bool is_sanitized() { return !std::string_view(LOADERSCOPE_SANITIZERS).empty(); }

const std::string& nvtx_recorder() {
  static const std::string path = LOADERSCOPE_NVTX_RECORDER;
  return path;
}

const std::string& pretend_cupti() {
  static const std::string path = LOADERSCOPE_PRETEND_CUPTI;
  return path;
}

const std::string& old_driver() {
  static const std::string path = LOADERSCOPE_OLD_DRIVER;
  return path;
}

}  // namespace loaderscope::testing_cli
