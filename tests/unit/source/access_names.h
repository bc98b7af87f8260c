// Every way to read files, for tests that hold for all of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "source/registry.h"

namespace loaderscope::source {

inline std::vector<FileAccess> all_accesses() {
  std::vector<FileAccess> all;
  for (const AccessRow& row : access_table()) all.push_back(row.access);
  return all;
}

// A word that GoogleTest takes as a name.
inline std::string access_test_name(FileAccess access) {
  std::string name(name_of(access));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace loaderscope::source
