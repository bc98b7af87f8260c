// Flags of one command that are no settings of a run; in a scenario they are keys all the same.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/config_flags.h"

namespace loaderscope {

struct CommandFlag {
  std::string_view name;        // "vary"
  std::string_view short_name;  // "L", or ""
  std::string_view value_name;  // "" for a switch
  std::string_view help;
  bool repeats = false;
};

// Flag of every command whose answer is a table.
inline constexpr CommandFlag kVerbose = {"verbose", "v", "",
                                         "Print more. -vv prints everything that the result has."};
inline constexpr CommandFlag kSummary = {
    "summary", "", "compact|full",
    "Print the short answer (compact) or the long one (full), as -v does."};

// Flag of every command that compares its results with ceilings.
inline constexpr CommandFlag kMachineFlag = {
    "machine", "", "FILE",
    "Compare with the ceilings of this saved profile ('probe --json'). none uses no profile. "
    "Default: the profile of 'probe --save'."};

// Flag of every command that reads the settings of a project.
inline constexpr CommandFlag kNoProjectFlag = {
    "no-project", "", "", "Ignore the settings of the project (pyproject.toml, loaderscope.toml)."};

// -v and --summary of a command that reads no scenario.
struct DetailFlags {
  int verbose = 0;      // number of -v
  std::string summary;  // --summary, or ""
};
void add_detail(CLI::App& app, DetailFlags& flags);

class CommandFlags {
 public:
  // `app` and `flags` must outlive this.
  CommandFlags(CLI::App& app, std::span<const CommandFlag> flags);

  // The settings of a run from `base`, and with its scenario what the command line does not say of
  // the flags here. Adds the settings of the project, unless a result has all settings. Call once,
  // before the others.
  RunConfig read(const ConfigFlags& base, std::vector<ListedFlag>* listed = nullptr,
                 bool is_of_result = false);

  std::vector<std::string> texts(std::string_view name) const;
  std::string text(std::string_view name) const;  // the last one, or ""
  bool is_given(std::string_view name) const { return !texts(name).empty(); }
  bool is_on(std::string_view name) const;  // state of a switch; throws UsageError
  int count(std::string_view name) const;   // number of times that a switch is on; throws
                                            // UsageError

  // The value by `parse`, or `otherwise`. Throws UsageError that names the flag.
  template <class T>
  T value(std::string_view name, T (*parse)(std::string_view), T otherwise) const {
    if (!is_given(name)) return otherwise;
    try {
      return parse(text(name));
    } catch (const ValueError& error) {
      refuse(name, std::string(error.sentence()), std::string(error.hint()));
    }
  }
  [[noreturn]] void refuse(std::string_view name, const std::string& reason,
                           const std::string& hint = "") const;

 private:
  struct Flag {
    const CommandFlag* row;
    const CLI::Option* option;
  };
  const CLI::App& app_;
  std::vector<Flag> flags_;
  OtherKeys scenario_;
};

}  // namespace loaderscope
