// What a measured program needs of ours, unpacked to a private folder that is gone with the object:
// the library, the Python package, and the settings.
#pragma once

#include <string>

namespace loaderscope::guest {

class Belongings {
 public:
  // Throws RunError when the temporary folder cannot be written.
  Belongings();
  ~Belongings();
  Belongings(const Belongings&) = delete;
  Belongings& operator=(const Belongings&) = delete;

  const std::string& folder() const { return folder_; }
  std::string python_path() const { return folder_ + "/python"; }
  std::string socket_path() const { return folder_ + "/host"; }
  void write(const std::string& name, std::string_view content) const;
  // How many Python programs have been started with the package on their path.
  int pythons_seen() const;

 private:
  void remove() const;

  std::string folder_;
};

}  // namespace loaderscope::guest
