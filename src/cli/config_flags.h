// The fields of a run as flags.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/other_keys.h"
#include "loaderscope/run_config.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace loaderscope {

class ConfigFlags {
 public:
  using Wanted = bool (*)(const Field&);

  // Adds one flag per field, or only per `wanted` one, and --scenario. `app` must outlive this.
  explicit ConfigFlags(CLI::App& app, Wanted wanted = nullptr);

  // The configuration that flags and scenario give, not yet resolved. Throws UsageError.
  RunConfig config() const;
  // The same for a command that has keys of its own in a scenario.
  RunConfig config(OtherKeys& others) const;

 private:
  std::vector<std::pair<const Field*, const CLI::Option*>> flags_;
  const CLI::Option* scenario_ = nullptr;
};

}  // namespace loaderscope
