// What a measured program needs of ours, unpacked to a private folder that is gone with the object:
// the library, the Python package, and the settings.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/private_folder.h"

namespace loaderscope::guest {

// A process that could not tell what it does, and why.
struct Unmeasured {
  pid_t process = 0;
  bool is_worker = false;
  std::string reason;
};

class Belongings {
 public:
  // Throws RunError when the temporary folder cannot be written, or no library can be loaded from
  // it.
  Belongings();

  const std::string& folder() const { return folder_.path(); }
  std::string python_path() const { return folder() + "/python"; }
  std::string socket_path() const { return folder() + "/host"; }
  void write(const std::string& name, std::string_view content) const;
  // How many Python programs have been started with the package on their path.
  int pythons_seen() const;
  std::vector<Unmeasured> unmeasured() const;

 private:
  source::PrivateFolder folder_;
};

}  // namespace loaderscope::guest
