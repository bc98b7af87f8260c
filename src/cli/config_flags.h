// The fields of a run as flags.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loaderscope/run_config.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace loaderscope {

class ConfigFlags {
 public:
  // Adds one flag per field, and --scenario. `app` must outlive this.
  explicit ConfigFlags(CLI::App& app);

  // The configuration that flags and scenario give, not yet resolved. Throws UsageError.
  RunConfig config() const;

 private:
  std::vector<std::pair<const Field*, const CLI::Option*>> flags_;
  const CLI::Option* scenario_ = nullptr;
};

}  // namespace loaderscope
