// The Python with torch that tests drive: LOADERSCOPE_PYTHON, else what scripts/python-env has
// made.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "cli/run_script.h"

namespace loaderscope::testing_cli {

// "" where there is none.
inline const std::string& torch_python() {
  static const std::string python = [] {
    if (const char* given = std::getenv("LOADERSCOPE_PYTHON")) return std::string(given);
    const Ended found = run_program(script_path("python-env"), {"--find"});
    if (found.exit_code != 0) return std::string();
    return found.out.substr(0, found.out.find('\n'));
  }();
  return python;
}

// Returns whether that Python has a module.
inline bool torch_python_has(const std::string& module) {
  const std::string code =
      "import importlib.util, sys; sys.exit(importlib.util.find_spec('" + module + "') is None)";
  return !torch_python().empty() && run_program(torch_python(), {"-c", code}).exit_code == 0;
}

inline std::string torch_job() { return LOADERSCOPE_SOURCE_DIR "/tests/torch/jobs.py"; }

// Base of fixtures; skips the test without such a Python.
class TorchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!torch_python_has("torch"))
      GTEST_SKIP() << "no Python with torch: scripts/python-env makes one, or name one in "
                      "LOADERSCOPE_PYTHON";
  }
};

}  // namespace loaderscope::testing_cli
