// A private temporary folder, removed with everything in it.
#pragma once

#include <string>

namespace loaderscope {

class ScratchFolder {
 public:
  // `name` is part of its name. Throws RunError.
  explicit ScratchFolder(const std::string& name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace loaderscope
