// Files of a test, and what they hold.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

namespace loaderscope::dataset {

inline std::string file_content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void put(const std::string& path, std::string_view content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

// Contents of all files below `folder`, by relative path.
inline std::map<std::string, std::string> contents_below(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    all[std::filesystem::relative(entry.path(), folder).string()] =
        file_content(entry.path().string());
  }
  return all;
}

}  // namespace loaderscope::dataset
