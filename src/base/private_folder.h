// A temporary folder of this process, removed with its content at the end. It stays if its process
// is killed, or while another process needs it: it names the folder in its environment, or maps one
// of its files. The next PrivateFolder with the same prefix removes such a folder once no process
// needs it.
#pragma once

#include <string>

#include "base/fd.h"

namespace loaderscope {

// Makes a folder and its missing parents, for this user only. Returns 0 or errno.
int make_private_folders(const std::string& path);

class PrivateFolder {
 public:
  // Makes the folder in `place`, named `prefix` and six more characters. Throws RunError.
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
