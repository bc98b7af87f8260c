// What a measured program needs of ours, unpacked to a private folder that is gone with the object:
// the library, the Python package, and the settings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.h"
#include "base/private_folder.h"
#include "guest/host/job_process.h"
#include "loaderscope/engine.h"
#include "loaderscope/run_config.h"

namespace loaderscope::guest {

// Files that are part of the program, by their place below the folder ("python/sitecustomize.py").
std::span<const EmbeddedFile> embedded_files();  // made by src/embed.cmake

// What the Python side of a run has to know. `replay` may be null.
std::string settings_json(const RunConfig& config, const ReplaySchedule* replay);

// What --bind means on this machine. Throws RunError where it cannot be.
std::vector<std::string> notes_on_binding(const RunConfig& config);

class GuestFiles {
 public:
  // Throws RunError when the temporary folder cannot be written, or no library can be loaded from
  // it. `settings`: those of settings_json.
  explicit GuestFiles(std::string_view settings);

  const std::string& folder() const { return folder_.path(); }
  std::string python_path() const { return folder() + "/python"; }
  std::string socket_path() const { return folder() + "/host"; }
  // How many Python programs have been started with the package on their path.
  int pythons_seen() const;
  std::vector<UnmeasuredProcess> unmeasured() const;

 private:
  void write(const std::string& name, std::string_view content) const;

  PrivateFolder folder_;
};

}  // namespace loaderscope::guest
