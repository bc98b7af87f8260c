// Images that the JPEG engines of a GPU accept: libjpeg must see the same in them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "dataset/jpeg_engines.h"
#include "decode/jpeg_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loaderscope;
  const dataset::ImageFacts facts = dataset::image_facts(std::as_bytes(std::span(data, size)));
  if (facts.more_needed || !facts.damage.empty() || !dataset::engine_refusal(facts).empty())
    return 0;
  JpegCodec codec;
  if (!codec.read_header(data, size)) return 0;
  const jpeg_decompress_struct& header = codec.header();
  if (header.image_width != facts.width || header.image_height != facts.height) std::abort();
  if (header.progressive_mode != FALSE || header.arith_code != FALSE) std::abort();
  if (header.num_components != facts.components || header.data_precision != 8) std::abort();
  if (header.comps_in_scan != header.num_components) std::abort();
  return 0;
}
