#include "device/cuda/cublas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <initializer_list>

namespace loaderscope::cuda {
namespace {

// Of cublas_api.h and library_types.h, which have kept them since CUDA 11.
constexpr int kNoTranspose = 0;
constexpr int kHalf = 2;
constexpr int kFloat = 0;
constexpr int kComputeFloat = 68;
constexpr int kDefaultAlgorithm = -1;
constexpr int kMajorVersion = 0, kMinorVersion = 1, kPatchLevel = 2;

void* open_library() {
  for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                           "/usr/local/cuda/lib64/libcublas.so.13", "libcublas.so"}) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <class Function>
Function function(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

Cublas::Cublas() {
  void* library = open_library();
  if (library == nullptr) return;
  create_ = function<Create>(library, "cublasCreate_v2");
  set_stream_ = function<SetStream>(library, "cublasSetStream_v2");
  using Property = int (*)(int which, int* value);
  const auto property = function<Property>(library, "cublasGetProperty");
  const auto multiply = function<Multiply>(library, "cublasGemmEx");
  if (!create_ || !set_stream_ || !property || !multiply) return;
  int major = 0, minor = 0, patch = 0;
  property(kMajorVersion, &major);
  property(kMinorVersion, &minor);
  property(kPatchLevel, &patch);
  version_ = fmt::format("{}.{}.{}", major, minor, patch);
  multiply_ = multiply;
}

void* Cublas::handle_of(Stream stream) {
  const std::lock_guard lock(mutex_);
  void*& handle = handles_[stream.handle];
  if (handle != nullptr) return handle;
  if (create_(&handle) != 0 || set_stream_(handle, stream.handle) != 0) handle = nullptr;
  return handle;
}

bool Cublas::gemm(const Gemm& gemm, Stream stream) {
  void* handle = handle_of(stream);
  if (handle == nullptr) return false;
  const float one = 1, zero = 0;
  const int n = gemm.size;
  // Row by row where cuBLAS reads column by column: c' = b' a'.
  return multiply_(handle, kNoTranspose, kNoTranspose, n, n, n, &one, gemm.b, kHalf, n, gemm.a,
                   kHalf, n, &zero, gemm.c, kFloat, n, kComputeFloat, kDefaultAlgorithm) == 0;
}

}  // namespace loaderscope::cuda
