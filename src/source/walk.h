// All folders below some paths, listed by many threads at once.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/errors.h"
#include "source/index.h"
#include "source/options.h"

namespace loaderscope::source {

// Contents of one folder: images by their extension, and folders.

// Many names in one block of memory.
class Names {
 public:
  void add(std::string_view name);
  void sort();  // sorts by bytes
  std::size_t size() const { return places_.size(); }
  std::string_view operator[](std::size_t i) const { return at(places_[i]); }

 private:
  struct Place {
    std::uint64_t begin : 48;
    std::uint64_t size : 16;
  };
  std::string_view at(Place place) const {
    return std::string_view(text_).substr(place.begin, place.size);
  }

  std::string text_;
  std::vector<Place> places_;
};

struct Subfolder {
  std::string name;
  bool is_link = false;
};

struct FolderListing {
  std::uint64_t device = 0;
  FolderStamp stamp;  // state before the names were read
  // Sorted. Filtering by name excludes lists, thumbnail databases and similar files. The first
  // bytes of a file decide its format.
  Names images;
  Names others;  // files without an image's name
  std::vector<Subfolder> folders;
};

class CannotList : public RunError {
 public:
  CannotList(const std::string& path, const std::string& why, const std::string& hint = "");
  const std::string cause;  // "Permission denied"
};

// Lists a folder. Leaves out hidden names (".x"). Opens no file, and follows only links: a link
// with an image's name counts as a file. Throws CannotList, or RunError if a resource of the
// machine ran out.
FolderListing list_folder(const std::string& path);

FolderStamp version_stamp(const struct stat& facts);

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
inline std::string_view class_name(std::string_view relative) {
  return relative.substr(0, relative.find('/'));
}

std::string join_path(std::string_view folder, std::string_view name);

}  // namespace loaderscope::source
