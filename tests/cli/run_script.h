// Runs the project's scripts with pretend programs in place of those that they call.
#pragma once

#include <filesystem>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {

inline std::string script_path(const std::string& name) {
  return LOADERSCOPE_SOURCE_DIR "/scripts/" + name;
}

// A program made of the text of a script; returns its path.
inline std::string write_program(const TestFolder& folder, const std::string& name,
                                 const std::string& text) {
  const std::string path = folder.write(name, text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

}  // namespace loaderscope::testing_cli
