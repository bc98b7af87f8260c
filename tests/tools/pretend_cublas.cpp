// A cuBLAS that only counts. PRETEND_CUBLAS=refuses: it cannot be used with this driver.
#include <cstdlib>
#include <string_view>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

int made = 0, alive = 0, streams_set = 0, products = 0;

}  // namespace

EXPORTED int cublasCreate_v2(void** handle) {
  const char* wish = std::getenv("PRETEND_CUBLAS");
  if (wish != nullptr && std::string_view(wish) == "refuses") return 1;
  *handle = &made + ++made;  // never read
  ++alive;
  return 0;
}
EXPORTED int cublasDestroy_v2(void*) { return --alive, 0; }
EXPORTED int cublasSetStream_v2(void*, void*) { return ++streams_set, 0; }
EXPORTED int cublasGetProperty(int which, int* value) { return *value = 13 - which, 0; }
EXPORTED int cublasGemmEx(void*, int, int, int, int, int, const void*, const void*, int, int,
                          const void*, int, int, const void*, void*, int, int, int, int) {
  return ++products, 0;
}

// Handles made, handles alive, streams set, products.
EXPORTED void pretend_cublas_counts(int* counts) {
  counts[0] = made;
  counts[1] = alive;
  counts[2] = streams_set;
  counts[3] = products;
}
