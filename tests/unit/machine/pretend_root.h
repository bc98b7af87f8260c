// A copy of the few files of /proc and /sys that count.
#pragma once

#include <filesystem>
#include <string>

#include "unit/source/temp_folder.h"

namespace loaderscope::test {

class PretendRoot {
 public:
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }
  std::filesystem::path path() const { return folder_.path(); }

 private:
  source::TempFolder folder_;
};

}  // namespace loaderscope::test
