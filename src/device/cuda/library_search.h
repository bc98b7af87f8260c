// The search for libraries of NVIDIA that the program loads when it runs. It does not depend on
// them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::cuda {

// Returns the Pythons of this process's environment: VIRTUAL_ENV, CONDA_PREFIX, PATH and ~/.local.
std::vector<std::filesystem::path> python_prefixes();

// Returns the folders of packages of these Pythons: PREFIX/lib/python3.12/site-packages and the
// like.
std::vector<std::filesystem::path> package_folders(
    const std::vector<std::filesystem::path>& prefixes);

// Returns the paths below the packages of these Pythons that exist. `files` are relative to a
// folder of packages: "nvidia/cu13/lib/libcublas.so.13".
std::vector<std::string> find_in_packages(const std::vector<std::filesystem::path>& prefixes,
                                          const std::vector<std::string>& files);

// Returns the files of `folder` whose names begin with `begin`, sorted with the newest version
// first.
std::vector<std::string> find_by_prefix(const std::filesystem::path& folder,
                                        std::string_view begin);

// Loads a library by its name or path. Returns null if that is not possible; dlerror() has the
// reason then.
void* open_library(const std::string& name);

void* look_up_symbol(void* library, const char* name);

// Returns the function of a library, or null if the library lacks it.
template <class Function>
Function find_function(void* library, const char* name) {
  return reinterpret_cast<Function>(look_up_symbol(library, name));
}

struct LibraryVersion {
  int major = 0, minor = 0, patch = 0;

  std::string text() const;  // "13.0.2"
  bool is_before(int other_major, int other_minor) const;
};

// Returns the version by the GetProperty function that CUDA libraries have. Its first parameter is
// a libraryPropertyType of library_types.h, whose values are unchanged since CUDA 8.
template <class GetProperty>
LibraryVersion library_version(GetProperty get_property) {
  LibraryVersion version;
  get_property(0, &version.major);
  get_property(1, &version.minor);
  get_property(2, &version.patch);
  return version;
}

}  // namespace loaderscope::cuda
