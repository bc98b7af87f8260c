// All folders below some paths, listed by many threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "source/folder_listing.h"
#include "source/options.h"

namespace loaderscope::source {

struct WalkedFolder {
  std::uint32_t root = 0;
  std::string relative;  // path below the root; "": the root itself
  FolderStamp stamp;
  Names images, others;
};

// Receives a folder below the root that cannot be listed, with the cause. One call at a time.
using OnUnreadable = std::function<void(const std::string& relative, const std::string& cause)>;

// Lists folders. Follows links to folders, as torchvision does, except links to an ancestor. The
// order is that of torchvision's ImageFolder: by root, by class (the first folder of `relative`),
// by `relative`, each by bytes. Throws RunError, also for a folder that cannot be listed if
// `on_unreadable` is empty.
std::vector<WalkedFolder> walk(const std::vector<std::string>& roots, const SourceContext& context,
                               const OnUnreadable& on_unreadable = {});

// Returns the class folder of `relative`: its part before the first '/'.
inline std::string_view class_of(std::string_view relative) {
  return relative.substr(0, relative.find('/'));
}

std::string join_path(std::string_view folder, std::string_view name);

}  // namespace loaderscope::source
