// cuBLAS, loaded where it is found when the program runs: the program does not depend on it.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "device/cuda/runtime.h"

namespace loaderscope::cuda {

class Cublas {
 public:
  Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  bool usable() const { return multiply_ != nullptr; }
  std::string version() const { return version_; }  // "13.0.2"
  // False: cuBLAS could not launch it.
  bool gemm(const Gemm& gemm, Stream stream);

 private:
  void* handle_of(Stream stream);

  using Create = int (*)(void** handle);
  using SetStream = int (*)(void* handle, void* stream);
  using Multiply = int (*)(void* handle, int transpose_a, int transpose_b, int m, int n, int k,
                           const void* alpha, const void* a, int type_a, int stride_a,
                           const void* b, int type_b, int stride_b, const void* beta, void* c,
                           int type_c, int stride_c, int compute_type, int algorithm);

  Create create_ = nullptr;
  SetStream set_stream_ = nullptr;
  Multiply multiply_ = nullptr;
  std::string version_;
  std::mutex mutex_;
  std::map<void*, void*> handles_;  // by stream; they live as long as the process
};

}  // namespace loaderscope::cuda
