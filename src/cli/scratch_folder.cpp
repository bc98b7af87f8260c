#include "cli/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "loaderscope/errors.h"

namespace loaderscope {

ScratchFolder::ScratchFolder(const std::string& name) {
  std::error_code none;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(none);
  path_ = ((none ? "/tmp" : parent) / ("loaderscope-" + name + "-XXXXXX")).string();
  if (::mkdtemp(path_.data()) == nullptr) {
    throw RunError(path_ + ": a temporary folder cannot be made (" + std::strerror(errno) +
                   "); set TMPDIR to a folder that can be written to");
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace loaderscope
