// A folder of files for one test, removed with it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source/file_source.h"

namespace loaderscope::source {

class TempFolder {
 public:
  TempFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "loaderscope-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = path;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  const std::string& path() const { return path_; }

  // Makes its folders too. Returns the path.
  std::string write(std::string_view name, std::string_view bytes = "x") const {
    const std::string path = *this / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  // Makes all files and folders `seconds` old, because recent ones are not cached.
  void age(int seconds = 3600) const {
    set_age(path_, seconds);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      if (!entry.is_symlink()) set_age(entry.path().string(), seconds);
    }
  }

 private:
  static void set_age(const std::string& path, int seconds) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    const timespec times[2] = {now, now};
    ::utimensat(AT_FDCWD, path.c_str(), times, 0);
  }

  std::string path_;
};

// Paths of all samples, in order, below `root`.
inline std::vector<std::string> sample_paths(const FileSource& files, const std::string& root) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < files.size(); ++i) {
    const std::string path = files.describe(i);
    names.push_back(path.starts_with(root + "/") ? path.substr(root.size() + 1) : path);
  }
  return names;
}

inline std::vector<int> sample_labels(const FileSource& files) {
  std::vector<int> labels;
  for (std::int64_t i = 0; i < files.size(); ++i) labels.push_back(files.label(i));
  return labels;
}

inline SourceOptions without_cache(std::vector<std::string> paths) {
  SourceOptions options;
  options.paths = std::move(paths);
  options.use_index_cache = false;
  return options;
}

// The message of the Error that `action` throws, "" if it throws none.
template <class Error, class Action>
std::string error_message(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace loaderscope::source
