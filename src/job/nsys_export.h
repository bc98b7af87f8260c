// Reports of Nsight Systems as SQLite files, which nsys itself writes.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/private_folder.h"
#include "loaderscope/errors.h"
#include "loaderscope/units.h"

namespace loaderscope {

bool is_nsys_report(const std::string& path);  // checks the ending
bool is_nsys_on_path();

// Exports `report` to `output`, which is replaced. `patience` 0 waits without limit. Throws
// RunError with the last message of nsys. Returns false if a signal ended nsys.
bool export_nsys_report(const std::string& report, const std::string& output, Nanos patience,
                        const std::atomic<int>& stop_signal);

// Traces of which the reports of nsys are exported to a temporary folder, until the end of this
// object.
class ExportedTraces {
 public:
  // Prints the name of each report first. Throws RunError if nsys is missing, fails or takes longer
  // than 15 minutes.
  ExportedTraces(const std::vector<std::string>& files, const std::atomic<int>& stop_signal);

  const std::vector<std::string>& files() const { return files_; }
  // Returns the error with the names of reports instead of those of temporary files.
  RunError named_by_report(const RunError& error) const;

 private:
  std::string export_to_folder(const std::string& report, const std::atomic<int>& stop_signal);

  std::vector<std::string> given_, files_;
  std::optional<PrivateFolder> folder_;  // absent without reports
};

}  // namespace loaderscope
