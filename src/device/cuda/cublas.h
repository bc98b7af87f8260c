// cuBLAS, loaded where it is found when the program runs: the program does not depend on it.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "device/cuda/runtime.h"

namespace loaderscope::cuda {

class Cublas {
 public:
  // The first of `libraries` that can be loaded: names for the dynamic linker, or paths.
  explicit Cublas(const std::vector<std::string>& libraries);
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  std::string version() const { return version_; }  // "13.0.2"

  // One handle for all who multiply on a device, from the first `open` to the last `close`; both
  // are called with that device chosen. False: cuBLAS cannot be used on it, its driver is too old,
  // say.
  bool open(int device);
  void close(int device);
  bool is_open(int device);
  // False: cuBLAS could not launch it.
  bool gemm(int device, const Gemm& gemm, Stream stream);

 private:
  struct Handle {
    void* handle = nullptr;
    void* stream = nullptr;
    int users = 0;
  };

  using Create = int (*)(void** handle);
  using Destroy = int (*)(void* handle);
  using SetStream = int (*)(void* handle, void* stream);
  using Multiply = int (*)(void* handle, int transpose_a, int transpose_b, int m, int n, int k,
                           const void* alpha, const void* a, int type_a, int stride_a,
                           const void* b, int type_b, int stride_b, const void* beta, void* c,
                           int type_c, int stride_c, int compute_type, int algorithm);

  bool is_loaded() const { return multiply_ != nullptr; }

  Create create_ = nullptr;
  Destroy destroy_ = nullptr;
  SetStream set_stream_ = nullptr;
  Multiply multiply_ = nullptr;
  std::string version_;
  std::mutex mutex_;  // protects the handles: only one thread at a time may use a handle
  std::map<int, Handle> handles_;
};

// Returns possible places of cuBLAS: the dynamic linker's own, a toolkit, and the packages of the
// Pythons that `prefixes` hold (pip's nvidia/cu13/lib and nvidia/cublas/lib).
std::vector<std::string> cublas_libraries(const std::vector<std::filesystem::path>& prefixes);

}  // namespace loaderscope::cuda
