#include "device/cuda/library_search.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace loaderscope::cuda {
namespace {

namespace fs = std::filesystem;

void add_from_environment(std::vector<fs::path>& prefixes, const char* name,
                          const fs::path& within = {}) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return;
  prefixes.push_back(within.empty() ? fs::path(value) : value / within);
}

}  // namespace

std::vector<fs::path> python_prefixes() {
  std::vector<fs::path> prefixes;
  add_from_environment(prefixes, "VIRTUAL_ENV");
  add_from_environment(prefixes, "CONDA_PREFIX");
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code none;
    if (fs::exists(fs::path(folder) / "python3", none))
      prefixes.push_back(fs::path(folder).parent_path());
  }
  add_from_environment(prefixes, "HOME", ".local");
  return prefixes;
}

std::vector<fs::path> package_folders(const std::vector<fs::path>& prefixes) {
  std::vector<fs::path> all;
  for (const fs::path& prefix : prefixes) {
    std::vector<fs::path> folders;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(prefix / "lib", none)) {
      if (!entry.path().filename().string().starts_with("python3")) continue;
      folders.push_back(entry.path() / "site-packages");
      folders.push_back(entry.path() / "dist-packages");  // Debian's
    }
    std::sort(folders.rbegin(), folders.rend());
    all.insert(all.end(), folders.begin(), folders.end());
  }
  return all;
}

std::vector<std::string> find_in_packages(const std::vector<fs::path>& prefixes,
                                          const std::vector<std::string>& files) {
  std::vector<std::string> found;
  for (const fs::path& packages : package_folders(prefixes)) {
    for (const std::string& file : files) {
      std::error_code none;
      if (const fs::path path = packages / file; fs::exists(path, none)) found.push_back(path);
    }
  }
  return found;
}

std::vector<std::string> find_by_prefix(const fs::path& folder, std::string_view begin) {
  std::vector<std::string> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().filename().string().starts_with(begin)) found.push_back(entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

void* open_library(const std::string& name) {
  return ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

void* look_up_symbol(void* library, const char* name) { return ::dlsym(library, name); }

std::string LibraryVersion::text() const { return fmt::format("{}.{}.{}", major, minor, patch); }

bool LibraryVersion::is_before(int other_major, int other_minor) const {
  return std::pair(major, minor) < std::pair(other_major, other_minor);
}

}  // namespace loaderscope::cuda
