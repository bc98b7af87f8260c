// What a measured program needs of ours, unpacked to a private folder that is gone with the object:
// the library, the Python package, and the settings.
#pragma once

#include <string>
#include <string_view>

#include "source/fd.h"

namespace loaderscope::guest {

// A temporary folder of this process. One whose process was killed is removed by the next that
// makes one.
class PrivateFolder {
 public:
  // Throws RunError when it cannot be made.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  source::Fd lock_;
};

class Belongings {
 public:
  // Throws RunError when the temporary folder cannot be written.
  Belongings();

  const std::string& folder() const { return folder_.path(); }
  std::string python_path() const { return folder() + "/python"; }
  std::string socket_path() const { return folder() + "/host"; }
  void write(const std::string& name, std::string_view content) const;
  // How many Python programs have been started with the package on their path.
  int pythons_seen() const;

 private:
  PrivateFolder folder_;
};

}  // namespace loaderscope::guest
