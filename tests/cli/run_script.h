// Runs the project's scripts with pretend programs in place of those that they call.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {

inline std::string script_path(const std::string& name) {
  return LOADERSCOPE_SOURCE_DIR "/scripts/" + name;
}

// The Python of a group of scripts/python-env: LOADERSCOPE_GROUP_PYTHON, which scripts/test gives
// as tests have a cache folder of their own, else what that script has made; "" where there is
// none.
inline std::string find_python(const std::string& group, const char* variable) {
  if (const char* given = std::getenv(variable)) return given;
  const Ended found = run_program(script_path("python-env"), {"--find", group});
  return found.exit_code == 0 ? found.out.substr(0, found.out.find('\n')) : "";
}
inline std::string servers_python() { return find_python("servers", "LOADERSCOPE_SERVERS_PYTHON"); }
inline std::string formats_python() { return find_python("formats", "LOADERSCOPE_FORMATS_PYTHON"); }
inline std::string peers_python() { return find_python("peers", "LOADERSCOPE_PEERS_PYTHON"); }
inline std::string traces_python() { return find_python("traces", "LOADERSCOPE_TRACES_PYTHON"); }

// A program made of the text of a script; returns its path.
inline std::string write_program(const TestFolder& folder, const std::string& name,
                                 const std::string& text) {
  const std::string path = folder.write(name, text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

}  // namespace loaderscope::testing_cli
