// All folders below some paths, listed by many threads at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "source/folder_listing.h"
#include "source/options.h"

namespace loaderscope::source {

struct WalkedFolder {
  std::uint32_t root = 0;
  std::string relative;  // to the root; "" is the root itself
  FolderStamp stamp;
  Names images;
};

// Links to folders are followed, as torchvision does, except where they lead back up. The order is
// that of torchvision's ImageFolder: by root, by class (the first folder of `relative`), by
// `relative`, each by bytes. Throws RunError.
std::vector<WalkedFolder> walk(const std::vector<std::string>& roots, const SourceContext& context);

// The class folder of `relative`: its part before the first '/'.
inline std::string_view class_of(std::string_view relative) {
  return relative.substr(0, relative.find('/'));
}

std::string join_path(std::string_view folder, std::string_view name);

}  // namespace loaderscope::source
