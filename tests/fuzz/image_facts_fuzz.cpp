// The first bytes of an image file: whatever they are, facts or what is wrong with them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "dataset/image_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loaderscope::dataset;
  const auto bytes = std::as_bytes(std::span(data, size));
  const ImageFacts facts = image_facts(bytes);
  if (facts.width < 0 || facts.height < 0) std::abort();
  if (facts.header_bytes < 0 || static_cast<std::size_t>(facts.header_bytes) > size) std::abort();
  has_jpeg_end(bytes);
  return 0;
}
