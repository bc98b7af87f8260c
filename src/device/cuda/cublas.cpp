#include "device/cuda/cublas.h"

#include "device/cuda/library_search.h"

namespace loaderscope::cuda {
namespace {

namespace fs = std::filesystem;

// Values from cublas_api.h and library_types.h, unchanged since CUDA 11.
constexpr int kNoTranspose = 0;
constexpr int kHalf = 2;
constexpr int kFloat = 0;
constexpr int kComputeFloat = 68;
constexpr int kDefaultAlgorithm = -1;

void* open_first(const std::vector<std::string>& libraries) {
  for (const std::string& name : libraries) {
    if (void* library = open_library(name)) return library;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> cublas_libraries(const std::vector<fs::path>& prefixes) {
  std::vector<std::string> libraries = {"libcublas.so.13",
                                        "libcublas.so.12",
                                        "libcublas.so.11",
                                        "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so.12",
                                        "libcublas.so"};
  const std::vector<std::string> packaged = find_in_packages(
      prefixes, {"nvidia/cu13/lib/libcublas.so.13", "nvidia/cublas/lib/libcublas.so.13",
                 "nvidia/cublas/lib/libcublas.so.12", "nvidia/cublas/lib/libcublas.so.11"});
  libraries.insert(libraries.end(), packaged.begin(), packaged.end());
  return libraries;
}

Cublas::Cublas(const std::vector<std::string>& libraries) {
  void* library = open_first(libraries);
  if (library == nullptr) return;
  create_ = find_function<Create>(library, "cublasCreate_v2");
  destroy_ = find_function<Destroy>(library, "cublasDestroy_v2");
  set_stream_ = find_function<SetStream>(library, "cublasSetStream_v2");
  const auto property = find_function<int (*)(int, int*)>(library, "cublasGetProperty");
  const auto multiply = find_function<Multiply>(library, "cublasGemmEx");
  if (!create_ || !destroy_ || !set_stream_ || !property || !multiply) return;
  version_ = library_version(property).text();
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
