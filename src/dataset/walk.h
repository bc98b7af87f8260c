// A folder's files, one after another, whatever their number.
#pragma once

#include <functional>
#include <string>

namespace loaderscope::dataset {

struct Walk {
  // `path` is relative to the root. Returns false to end the walk.
  std::function<bool(std::string path)> on_file;
  // A folder, relative to the root, that cannot be read, and why.
  std::function<void(std::string path, int error)> on_unreadable;
};

// Hidden files and folders are passed over. Links to folders are followed in the root (classes are
// often links) and not below, where they could lead round in circles. Throws RunError when the root
// cannot be read.
void walk_files(const std::string& root, const Walk& walk);

}  // namespace loaderscope::dataset
