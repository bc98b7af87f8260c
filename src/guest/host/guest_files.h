// Files that a measured program needs: the library, the Python package and the settings. The
// private folder that contains them is removed with the object.
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

// Returns the settings for the Python side of a run. `replay` may be null.
std::string settings_json(const RunConfig& config, const ReplaySchedule* replay);

// Returns notes on the effect of --bind on this machine. Throws RunError if this machine cannot
// bind.
std::vector<std::string> notes_on_binding(const RunConfig& config);

class GuestFiles {
 public:
  // Throws RunError when the temporary folder cannot be written, or no library can be loaded from
  // it. `settings`: those of settings_json.
  explicit GuestFiles(std::string_view settings);

  const std::string& folder() const { return folder_.path(); }
  std::string python_path() const { return folder() + "/python"; }
  std::string socket_path() const { return folder() + "/host"; }
  // Returns the number of Python programs that were started with the package on their path.
  int pythons_seen() const;
  std::vector<UnmeasuredProcess> unmeasured() const;

 private:
  void write(const std::string& name, std::string_view content) const;

  PrivateFolder folder_;
};

}  // namespace loaderscope::guest
