// Decoders: from stored bytes to pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "loaderscope/errors.h"
#include "loaderscope/rows.h"

namespace loaderscope {

// A rectangle in the pixels of the whole image.
struct Region {
  int x = 0, y = 0, width = 0, height = 0;
};

// 8-bit RGB, rows of `stride` bytes. Valid until the next call of the decoder that made it, and no
// longer than the stored bytes that it was made from.
struct Pixels {
  const std::uint8_t* data = nullptr;
  std::size_t stride = 0;
  // The part of the image that was asked for. With a scale_denominator d > 1, the region counts the
  // pixels of the image scaled to ceil(width / d) x ceil(height / d), and covers that part.
  Region region;
  int scale_denominator = 1;  // 1, 2 or 4
};

struct ImageHeader {
  int width = 0, height = 0;
};

class FrameCounts;

struct DecodeOptions {
  bool fast_upsampling = false;
  // Decode at 1/2 or 1/4 where both sides of the region then still have at least `wanted` pixels.
  bool dct_scale_auto = false;
  int wanted = 0;  // the side of the augmented image; 0: unknown, nothing is scaled
  // Limit of Pillow. A header with more pixels is rejected.
  std::int64_t largest_pixels = 178'956'970;
  const FrameCounts* frames = nullptr;  // counter for frames of videos; may be null
};

// One format's decoder of one worker. `open` then `decode`, once each per sample. Both throw
// SampleError, whose text continues a sentence that begins with the sample's path ("its JPEG data
// end early, ..."). After an error the decoder is as good as new. No image leaves a trace in the
// ones after it.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // The bytes are not copied: they must outlive the pixels.
  virtual ImageHeader open(std::span<const std::byte> stored) = 0;
  // `region` lies within the image. Its pixels are those of a decode of the whole image, bit for
  // bit. Grey, palette and CMYK images become RGB, alpha is dropped, 16 bits become 8. An
  // orientation tag is ignored, as Pillow and torchvision do by default.
  virtual Pixels decode(const Region& region) = 0;
};

struct DecoderRow {
  Row row;
  bool (*recognises)(std::span<const std::byte> stored);  // tests the first bytes, and never the
                                                          // name
  std::unique_ptr<Decoder> (*make)(const DecodeOptions& options);
};

std::span<const DecoderRow> decoder_table();  // src/decode/registry.cpp

// Makes a decoder for all formats, which picks the row that recognises the sample. Each worker of
// `run` has one.
std::unique_ptr<Decoder> make_any_decoder(const DecodeOptions& options);

}  // namespace loaderscope
