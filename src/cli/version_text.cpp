// The only file that includes the generated version.h, so that a new commit compiles one file.
#include "cli/version_text.h"

#include "version.h"

namespace loaderscope {

std::string version_number() { return std::string(version::number) + "+" + version::commit; }

std::string version_text() {
  return std::string("loaderscope ") + version::number + " (commit " + version::commit + ", " +
         version::compiler + ", " + version::build_type + ", with " + version::libraries +
         ", CUDA " + version::cuda + ")";
}

}  // namespace loaderscope
