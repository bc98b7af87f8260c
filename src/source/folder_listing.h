// What one folder holds: images by their extension, and folders.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/errors.h"
#include "source/index.h"

namespace loaderscope::source {

// Many names in one piece of memory.
class Names {
 public:
  void add(std::string_view name);
  void sort();  // by bytes
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
  FolderStamp stamp;  // as it was before the names were read
  // Sorted. The names keep lists, thumbnails' databases and the like out; what a file is its first
  // bytes say.
  Names images;
  Names others;  // files that are no images by their names
  std::vector<Subfolder> folders;
};

class CannotList : public RunError {
 public:
  CannotList(const std::string& path, const std::string& why);
  const std::string cause;  // "Permission denied"
};

// Hidden names (".x") are left out. No file is opened, and only links are looked at: a link whose
// name is an image's is taken for a file. Throws CannotList, or RunError where the machine had too
// little of something.
FolderListing list_folder(const std::string& path);

FolderStamp version_stamp(const struct stat& facts);

}  // namespace loaderscope::source
