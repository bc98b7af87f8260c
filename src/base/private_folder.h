// A temporary folder of this process, removed with everything in it. One whose process was killed
// is removed by the next that makes one of its name, and so is one that another process still needs
// (it has it in its environment, or maps a file of it) once that has ended.
#pragma once

#include <string>

#include "base/fd.h"

namespace loaderscope {

// Makes a folder and those above it that are missing, for this user only. Returns 0 or errno.
int make_private_folders(const std::string& path);

class PrivateFolder {
 public:
  // Below `place`, as PREFIX and six characters more. Throws RunError.
  PrivateFolder(const std::string& place, const std::string& prefix);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Fd lock_;
};

}  // namespace loaderscope
