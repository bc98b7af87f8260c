// Folders of real images for runs of the native engine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "dataset/make.h"
#include "unit/dataset/contents.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::native {

// A folder of small images that are all different, in one flat folder: 000000.jpg, ...
class Photos {
 public:
  explicit Photos(std::int64_t count, dataset::MakeOptions options = small_photos()) {
    options.path = folder_ / "made";
    options.count = count;
    options.classes = 1;
    options.threads = 1;
    dataset::make_dataset(options, {});
    std::set<std::string> images;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options.path)) {
      if (entry.path().extension() == ".jpg") images.insert(entry.path().string());
    }
    std::filesystem::create_directory(path());
    for (const std::string& image : images) {
      const std::string name = std::to_string(100 + count_++) + ".jpg";
      std::filesystem::rename(image, path() + "/" + name);
    }
  }

  static dataset::MakeOptions small_photos() {
    dataset::MakeOptions options;
    options.size = {40, 30, 0};
    return options;
  }

  std::string path() const { return folder_ / "flat"; }
  std::string image(int index) const { return path() + "/" + std::to_string(100 + index) + ".jpg"; }
  void damage(int index) const { std::filesystem::resize_file(image(index), 300); }
  void add(const std::string& name, const std::string& bytes) const {
    dataset::put(path() + "/" + name, bytes);
  }

 private:
  source::TempFolder folder_;
  int count_ = 0;
};

}  // namespace loaderscope::native
