#include "device/cuda/cublas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace loaderscope::cuda {
namespace {

namespace fs = std::filesystem;

// Values from cublas_api.h and library_types.h, unchanged since CUDA 11.
constexpr int kNoTranspose = 0;
constexpr int kHalf = 2;
constexpr int kFloat = 0;
constexpr int kComputeFloat = 68;
constexpr int kDefaultAlgorithm = -1;
constexpr int kMajorVersion = 0, kMinorVersion = 1, kPatchLevel = 2;

void* open_first(const std::vector<std::string>& libraries) {
  for (const std::string& name : libraries) {
    if (void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <class Function>
Function function(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

std::string library_version(int (*property)(int which, int* value)) {
  int major = 0, minor = 0, patch = 0;
  property(kMajorVersion, &major);
  property(kMinorVersion, &minor);
  property(kPatchLevel, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

// PREFIX/lib/python3.12/site-packages and the like.
std::vector<fs::path> package_folders(const fs::path& prefix) {
  std::vector<fs::path> folders;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", none)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    folders.push_back(entry.path() / "site-packages");
    folders.push_back(entry.path() / "dist-packages");  // Debian's
  }
  std::sort(folders.rbegin(), folders.rend());
  return folders;
}

void add_from_environment(std::vector<fs::path>& prefixes, const char* name,
                          const fs::path& within = {}) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return;
  prefixes.push_back(within.empty() ? fs::path(value) : value / within);
}

}  // namespace

std::vector<std::string> cublas_libraries(const std::vector<fs::path>& prefixes) {
  std::vector<std::string> libraries = {"libcublas.so.13",
                                        "libcublas.so.12",
                                        "libcublas.so.11",
                                        "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so.12",
                                        "libcublas.so"};
  for (const fs::path& prefix : prefixes) {
    for (const fs::path& packages : package_folders(prefix)) {
      for (const char* file : {"cu13/lib/libcublas.so.13", "cublas/lib/libcublas.so.13",
                               "cublas/lib/libcublas.so.12", "cublas/lib/libcublas.so.11"}) {
        std::error_code none;
        const fs::path path = packages / "nvidia" / file;
        if (fs::exists(path, none)) libraries.push_back(path);
      }
    }
  }
  return libraries;
}

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

Cublas::Cublas(const std::vector<std::string>& libraries) {
  void* library = open_first(libraries);
  if (library == nullptr) return;
  create_ = function<Create>(library, "cublasCreate_v2");
  destroy_ = function<Destroy>(library, "cublasDestroy_v2");
  set_stream_ = function<SetStream>(library, "cublasSetStream_v2");
  const auto property = function<int (*)(int, int*)>(library, "cublasGetProperty");
  const auto multiply = function<Multiply>(library, "cublasGemmEx");
  if (!create_ || !destroy_ || !set_stream_ || !property || !multiply) return;
  version_ = library_version(property);
  multiply_ = multiply;
}

bool Cublas::open(int device) {
  const std::lock_guard lock(mutex_);
  if (!is_loaded()) return false;
  Handle& shared = handles_[device];
  if (shared.handle == nullptr && create_(&shared.handle) != 0) shared.handle = nullptr;
  if (shared.handle == nullptr) return false;
  ++shared.users;
  return true;
}

void Cublas::close(int device) {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(device);
  if (found == handles_.end() || found->second.users == 0 || --found->second.users > 0) return;
  destroy_(found->second.handle);
  handles_.erase(found);
}

bool Cublas::is_open(int device) {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(device);
  return found != handles_.end() && found->second.users > 0;
}

bool Cublas::gemm(int device, const Gemm& gemm, Stream stream) {
  const std::lock_guard lock(mutex_);
  Handle& shared = handles_[device];
  if (shared.handle == nullptr) return false;
  if (shared.stream != stream.handle) {
    if (set_stream_(shared.handle, stream.handle) != 0) return false;
    shared.stream = stream.handle;
  }
  const float one = 1, zero = 0;
  const int n = gemm.size;
  // Row by row where cuBLAS reads column by column: c' = b' a'.
  return multiply_(shared.handle, kNoTranspose, kNoTranspose, n, n, n, &one, gemm.b, kHalf, n,
                   gemm.a, kHalf, n, &zero, gemm.c, kFloat, n, kComputeFloat,
                   kDefaultAlgorithm) == 0;
}

}  // namespace loaderscope::cuda
