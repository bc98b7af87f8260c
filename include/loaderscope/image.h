// Images between decode and augment: pixels, regions, and the decoders' contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "loaderscope/rows.h"
#include "loaderscope/source.h"

namespace loaderscope {

// A rectangle in the pixels of the whole image.
struct Region {
  int x = 0, y = 0, width = 0, height = 0;
};

// 8-bit RGB, rows of `stride` bytes, owned by the decoder that made it and valid until its next call.
struct Pixels {
  const std::uint8_t* data = nullptr;
  std::size_t stride = 0;
  Region region;  // which part of the whole image this is; at least what was asked for
};

struct ImageHeader {
  int width = 0, height = 0;
};

struct DecodeOptions {
  bool fast_upsampling = false;
  bool dct_scale_auto = false;  // decode at 1/2 or 1/4 where the crop is at least that much larger than needed
  std::int64_t largest_pixels = 178'956'970;  // as Pillow's limit; a header that asks for more is refused
};

// One format's decoder of one worker. `open` then `decode`, once each per sample. Both throw SampleError.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual ImageHeader open(std::span<const std::byte> stored) = 0;
  // Decodes at least `region`. Grey and palette images become RGB, alpha is dropped, 16 bits become 8.
  virtual Pixels decode(const Region& region) = 0;
};

struct DecoderRow {
  Row row;
  bool (*recognises)(std::span<const std::byte> stored);  // by the first bytes, never by the name
  std::unique_ptr<Decoder> (*make)(const DecodeOptions& options);
};

std::span<const DecoderRow> decoder_table();  // src/decode/registry.cpp

// All formats behind one decoder: picks the row that recognises the sample. What `run` uses per worker.
std::unique_ptr<Decoder> make_any_decoder(const DecodeOptions& options);

}  // namespace loaderscope
