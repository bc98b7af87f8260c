#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/colour_kernels.cpp"
#include "augment/kernels.h"
#include "augment/simd.h"

HWY_BEFORE_NAMESPACE();
namespace loaderscope::augment {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::int32_t>;
using Vec = hn::Vec<Words>;

struct Colour {
  Vec red, green, blue;
};

HWY_INLINE Colour load(const std::uint32_t* pixels) {
  const Words d;
  const auto all = hn::LoadU(d, reinterpret_cast<const std::int32_t*>(pixels));
  const auto mask = hn::Set(d, 255);
  return {hn::And(all, mask), hn::And(hn::ShiftRight<8>(all), mask),
          hn::And(hn::ShiftRight<16>(all), mask)};
}

HWY_INLINE void store(const Colour& c, std::uint32_t* pixels) {
  const auto all = hn::Or(c.red, hn::Or(hn::ShiftLeft<8>(c.green), hn::ShiftLeft<16>(c.blue)));
  hn::StoreU(all, Words(), reinterpret_cast<std::int32_t*>(pixels));
}

// Drops the 16 binary places and cuts to 0..255.
HWY_INLINE Vec to_value(Vec fixed) {
  const Words d;
  return hn::Min(hn::Max(hn::ShiftRight<16>(fixed), hn::Zero(d)), hn::Set(d, 255));
}

// torchvision's luma, 0.2989 R + 0.587 G + 0.114 B, rounded down.
HWY_INLINE Vec grey_value(const Colour& c) {
  const Words d;
  const auto sum = hn::Add(hn::Mul(c.red, hn::Set(d, 19589)), hn::Mul(c.green, hn::Set(d, 38470)));
  return hn::ShiftRight<16>(hn::Add(sum, hn::Mul(c.blue, hn::Set(d, 7471))));
}

template <class Change>
HWY_INLINE void for_each_pixel(std::uint32_t* pixels, std::size_t n, const Change& change) {
  for (std::size_t i = 0; i < n; i += hn::Lanes(Words()))
    store(change(load(pixels + i)), pixels + i);
}

void scale_values(std::uint32_t* pixels, std::size_t n, std::int32_t factor, std::int32_t offset) {
  const auto f = hn::Set(Words(), factor), o = hn::Set(Words(), offset);
  const auto one = [&](Vec value) HWY_ATTR { return to_value(hn::Add(hn::Mul(value, f), o)); };
  for_each_pixel(pixels, n, [&](const Colour& c) HWY_ATTR {
    return Colour{one(c.red), one(c.green), one(c.blue)};
  });
}

void blend_grey(std::uint32_t* pixels, std::size_t n, std::int32_t factor) {
  const auto f = hn::Set(Words(), factor), rest = hn::Set(Words(), 65536 - factor);
  for_each_pixel(pixels, n, [&](const Colour& c) HWY_ATTR {
    const auto grey = hn::Mul(grey_value(c), rest);
    const auto one = [&](Vec value) HWY_ATTR { return to_value(hn::Add(hn::Mul(value, f), grey)); };
    return Colour{one(c.red), one(c.green), one(c.blue)};
  });
}

std::int64_t sum_grey(const std::uint32_t* pixels, std::size_t n) {
  const Words d;
  auto sum = hn::Zero(d);  // n < 2^23: no lane overflows
  for (std::size_t i = 0; i < n; i += hn::Lanes(d))
    sum = hn::Add(sum, grey_value(load(pixels + i)));
  HWY_ALIGN std::int32_t lanes[hn::MaxLanes(d)];
  hn::Store(sum, d, lanes);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) total += lanes[i];
  return total;
}

// The hue in sixths of a circle with 16 binary places, 0 .. 6 * 65536. Grey has hue 0.
HWY_INLINE Vec hue_value(const Colour& c, Vec most, Vec chroma) {
  const Words d;
  const auto is_red = hn::Eq(most, c.red), is_green = hn::Eq(most, c.green);
  const auto rest = hn::IfThenElse(is_green, hn::Sub(c.blue, c.red), hn::Sub(c.red, c.green));
  const auto difference = hn::IfThenElse(is_red, hn::Sub(c.green, c.blue), rest);
  const auto base = hn::IfThenElse(is_green, hn::Set(d, 2 << 16), hn::Set(d, 4 << 16));
  const hn::RebindToFloat<Words> df;
  // A quotient and a power of two: no instruction set rounds them otherwise.
  const auto safe = hn::ConvertTo(df, hn::Max(chroma, hn::Set(d, 1)));
  const auto quotient =
      hn::Mul(hn::Div(hn::ConvertTo(df, difference), safe), hn::Set(df, 65536.0f));
  const auto hue = hn::Add(hn::IfThenZeroElse(is_red, base), hn::ConvertTo(d, quotient));
  return hn::Add(hue, hn::And(hn::ShiftRight<31>(hue), hn::Set(d, 6 << 16)));
}

// A channel of the colour with that hue: 1 within a sixth of its own hue `centre`, 0 beyond two
// sixths.
HWY_INLINE Vec channel_at(Vec hue, int centre, Vec least, Vec chroma) {
  const Words d;
  const auto full = hn::Set(d, 6 << 16), one = hn::Set(d, 1 << 16);
  const auto away = hn::Abs(hn::Sub(hue, hn::Set(d, centre << 16)));
  const auto near = hn::Min(away, hn::Sub(full, away));
  const auto share = hn::Min(hn::Max(hn::Sub(hn::Add(one, one), near), hn::Zero(d)), one);
  const auto value = hn::Add(hn::ShiftLeft<16>(least), hn::Mul(chroma, share));
  // torchvision multiplies by 255.999 / 255 and rounds down.
  return hn::ShiftRight<16>(hn::Add(value, hn::ShiftRight<8>(value)));
}

void turn_hue(std::uint32_t* pixels, std::size_t n, std::int32_t turn) {
  const Words d;
  const auto full = hn::Set(d, 6 << 16), by = hn::Set(d, turn);
  for_each_pixel(pixels, n, [&](const Colour& c) HWY_ATTR {
    const auto most = hn::Max(c.red, hn::Max(c.green, c.blue));
    const auto least = hn::Min(c.red, hn::Min(c.green, c.blue));
    const auto chroma = hn::Sub(most, least);
    const auto turned = hn::Add(hue_value(c, most, chroma), by);
    const auto hue = hn::IfThenElse(hn::Lt(turned, full), turned, hn::Sub(turned, full));
    return Colour{channel_at(hue, 0, least, chroma), channel_at(hue, 2, least, chroma),
                  channel_at(hue, 4, least, chroma)};
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace loaderscope::augment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loaderscope::augment {

HWY_EXPORT(scale_values);
HWY_EXPORT(blend_grey);
HWY_EXPORT(sum_grey);
HWY_EXPORT(turn_hue);

void scale_values(std::uint32_t* pixels, std::size_t n, std::int32_t factor, std::int32_t offset) {
  HWY_DYNAMIC_DISPATCH(scale_values)(pixels, n, factor, offset);
}
void blend_grey(std::uint32_t* pixels, std::size_t n, std::int32_t factor) {
  HWY_DYNAMIC_DISPATCH(blend_grey)(pixels, n, factor);
}
std::int64_t sum_grey(const std::uint32_t* pixels, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(sum_grey)(pixels, n);
}
void turn_hue(std::uint32_t* pixels, std::size_t n, std::int32_t turn) {
  HWY_DYNAMIC_DISPATCH(turn_hue)(pixels, n, turn);
}

}  // namespace loaderscope::augment
#endif
