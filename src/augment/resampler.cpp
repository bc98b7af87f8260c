#include "augment/resampler.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "augment/kernels.h"

namespace loaderscope::augment {
void Resampler::prepare(const View& view, const Pixels& pixels, bool mirrored) {
  const int d = pixels.scale_denominator;
  make_taps(reduced(view.x, d), {size_, antialias_, mirrored}, columns_);
  make_taps(reduced(view.y, d), {size_, antialias_, false}, rows_);
  fraction_ = std::min(7, 22 - columns_.bits);  // 8 + fraction + bits must stay below 31
  const Region& held = pixels.region;
  check(held);
  find_source(pixels, held);
  // A kernel loads two pixels per pair and a little more: up to 8 values beyond the last weight.
  const std::size_t padded = values_ + 6 * static_cast<std::size_t>(columns_.pairs) + kVectorBytes;
  if (row_.size() < padded) row_.resize(padded);
  blended_.resize(2 * static_cast<std::size_t>(rows_.pairs));
}

void Resampler::check(const Region& held) const {
  const Span& x = columns_.read;
  const Span& y = rows_.read;
  if (x.low < held.x || x.high > held.x + held.width || y.low < held.y ||
      y.high > held.y + held.height) {
    throw std::logic_error("augment was given less of the image than it chose");
  }
}

// Kernels read whole vectors. Where a row is shorter than one, it is copied to where there is room.
void Resampler::find_source(const Pixels& pixels, const Region& held) {
  const auto at = [](int a, int b) { return static_cast<std::size_t>(a - b); };
  source_ =
      pixels.data + at(rows_.read.low, held.y) * pixels.stride + 3 * at(columns_.read.low, held.x);
  stride_ = pixels.stride;
  values_ = 3 * at(columns_.read.high, columns_.read.low);
  if (values_ >= kVectorBytes) return;
  const std::size_t height = at(rows_.read.high, rows_.read.low);
  narrow_.resize(height * kVectorBytes);
  for (std::size_t y = 0; y < height; ++y) {
    std::memcpy(narrow_.data() + y * kVectorBytes, source_ + y * stride_, values_);
  }
  source_ = narrow_.data();
  stride_ = kVectorBytes;
}

void Resampler::make_row(int y, std::uint32_t* out) {
  const int first = rows_.first[static_cast<std::size_t>(y)];
  const int last = rows_.read.high - rows_.read.low - 1;
  for (std::size_t i = 0; i < blended_.size(); ++i) {
    // Beyond the last row only weights of 0 are left.
    const int row = std::min(first + static_cast<int>(i), last);
    blended_[i] = source_ + static_cast<std::size_t>(row) * stride_;
  }
  const std::size_t n = std::max(values_, kVectorBytes);
  if (rows_.pairs == 1 && rows_.bits == 14 && fraction_ == 7) {
    const int odd = (rows_.weight(0, y) >> 16) * 2;
    blend_two_rows(blended_[0], blended_[1], std::min(odd, 32767), n, row_.data());
  } else {
    const RowBlend blend{blended_.data(), rows_.weights.data() + y,
                         rows_.padded,    rows_.pairs,
                         rows_.bits,      fraction_};
    blend_rows(blend, n, row_.data());
  }
  resize_row(row_.data(), columns_, fraction_, out);
}

}  // namespace loaderscope::augment
