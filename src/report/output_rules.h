// Rules for files that a result may replace: other results. A slip on the command line must not
// destroy a program, a data set or a disk.
#pragma once

#include <string>
#include <vector>

namespace loaderscope {

struct OutputRules {
  bool force = false;                  // other regular files may be replaced too
  std::vector<std::string> made_from;  // files that never are: results, scenarios, programs
};

// Throws RunError where a result may not be written to `path`, which exists. Nothing replaces the
// program itself, a disk or another device; standard streams, terminals and /dev/null may be
// written to.
void refuse_to_replace(const std::string& path, const OutputRules& rules);

}  // namespace loaderscope
