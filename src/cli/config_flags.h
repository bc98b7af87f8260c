// The fields of a run as flags, and the properties of the machine that their defaults depend on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loaderscope/run_record.h"
#include "loaderscope/settings.h"
#include "report/output_rules.h"
#include "settings/scenario.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace loaderscope {

// The group of flags that no help shows: names of earlier versions.
inline constexpr std::string_view kHidden = "";

// A flag that names several values of a setting: --data A --data B, --cache cold,warm.
struct ListedFlag {
  std::string_view name;
  std::vector<std::string> values;
};

class ConfigFlags {
 public:
  using Wanted = bool (*)(const Field&);

  // Adds one flag per field, or only per `wanted` one, and --scenario. `app` must outlive this.
  explicit ConfigFlags(CLI::App& app, Wanted wanted = nullptr);

  // The configuration that flags and scenario give, not yet resolved. Throws UsageError.
  RunConfig config() const;
  // The same for a command that has keys of its own in a scenario. `listed`: of one that varies
  // settings, takes flags that name several values, each a setting of its own.
  RunConfig config(OtherKeys& others, std::vector<ListedFlag>* listed = nullptr) const;

  // Rules for the result, which is made from the scenario and the files that `config` names.
  OutputRules output_rules(const RunConfig& config) const;

 private:
  std::vector<std::pair<const Field*, const CLI::Option*>> flags_;
  const CLI::Option* scenario_ = nullptr;
  const CLI::Option* force_ = nullptr;
};

// A result says what the base case is; flags would say it a second time. `instead`: what to do.
void refuse_flags_with_result(const RunConfig& given, std::string_view instead);

// Returns the properties of the machine that the defaults depend on. Searches for a GPU only if the
// answer matters, because that starts its driver.
MachineLimits machine_limits(const MachineFacts& machine, const RunConfig& given);

}  // namespace loaderscope
