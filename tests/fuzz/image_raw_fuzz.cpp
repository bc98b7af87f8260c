#include "image_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  loaderscope::fuzz_image("raw", data, size);
  return 0;
}
