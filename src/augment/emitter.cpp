#include "augment/emitter.h"

#include <cstring>

#include "augment/pixel_math.h"

namespace loaderscope::augment {

std::size_t element_bytes(Transfer transfer) {
  if (transfer == Transfer::f32) return 4;
  return transfer == Transfer::f16 ? 2 : 1;
}

Emitter::Emitter(const AugmentOptions& options, const Normalise& normalise)
    : transfer_(options.transfer),
      layout_(options.layout),
      size_(static_cast<std::size_t>(options.size)),
      bytes_(element_bytes(options.transfer)),
      scaling_(make_scaling(normalise)) {
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t value = 0; value < 256; ++value) {
      floats_[c][value] =
          scaled_value(static_cast<int>(value), scaling_.subtract[c], scaling_.multiply[c]);
      halves_[c][value] = half_bits(floats_[c][value]);
    }
  }
}

void Emitter::write_row(const std::uint32_t* pixels, int y, std::byte* place) const {
  const bool is_short = size_ < kVectorBytes;
  const bool uses_table = is_short || (transfer_ == Transfer::f16 && !has_f16());
  uses_table ? write_by_table(pixels, y, place) : write_by_kernel(pixels, y, place);
}

void Emitter::write_by_kernel(const std::uint32_t* pixels, int y, std::byte* place) const {
  const std::size_t row = size_ * bytes_ * static_cast<std::size_t>(y),
                    plane = size_ * size_ * bytes_;
  if (layout_ == Layout::nchw) {
    const Planes planes{{place + row, place + row + plane, place + row + 2 * plane}};
    if (transfer_ == Transfer::f32) return emit_planar_f32(pixels, size_, scaling_, planes);
    if (transfer_ == Transfer::f16) return emit_planar_f16(pixels, size_, scaling_, planes);
    return emit_planar_u8(pixels, size_, planes);
  }
  std::byte* const out = place + 3 * row;
  if (transfer_ == Transfer::f32) return emit_packed_f32(pixels, size_, scaling_, out);
  if (transfer_ == Transfer::f16) return emit_packed_f16(pixels, size_, scaling_, out);
  emit_packed_u8(pixels, size_, out);
}

void Emitter::write_by_table(const std::uint32_t* pixels, int y, std::byte* place) const {
  const bool planar = layout_ == Layout::nchw;
  const std::size_t row = size_ * static_cast<std::size_t>(y);
  for (std::size_t c = 0; c < 3; ++c) {
    std::byte* out = place + bytes_ * (planar ? c * size_ * size_ + row : 3 * row + c);
    for (std::size_t x = 0; x < size_; ++x, out += bytes_ * (planar ? 1 : 3)) {
      const std::size_t value = (pixels[x] >> (8 * c)) & 255u;
      if (transfer_ == Transfer::f32) std::memcpy(out, &floats_[c][value], 4);
      if (transfer_ == Transfer::f16) std::memcpy(out, &halves_[c][value], 2);
      if (transfer_ == Transfer::u8) *out = static_cast<std::byte>(value);
    }
  }
}

std::optional<Normalise> find_normalise(const std::vector<std::string>& operations) {
  for (const std::string& text : operations) {
    if (text.substr(0, text.find(':')) == "normalise")
      return std::get<Normalise>(make_operation(text, 1));
  }
  return std::nullopt;
}

Scaling make_scaling(const Normalise& normalise) {
  Scaling scaling;
  for (std::size_t c = 0; c < 3; ++c) {
    scaling.subtract[c] = static_cast<float>(255 * normalise.mean[c]);
    scaling.multiply[c] = static_cast<float>(1 / (255 * normalise.deviation[c]));
  }
  return scaling;
}

}  // namespace loaderscope::augment
