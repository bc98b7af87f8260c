#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/warp_kernels.cpp"
#include "augment/kernels.h"
#include "augment/simd.h"

HWY_BEFORE_NAMESPACE();
namespace loaderscope::augment {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::int32_t>;
using Shorts = hn::Repartition<std::int16_t, Words>;
using Vec = hn::Vec<Words>;

// Two 16-bit numbers in one lane.
HWY_INLINE Vec pack(Vec even, Vec odd) { return hn::Or(even, hn::ShiftLeft<16>(odd)); }

HWY_INLINE Vec dot(Vec a, Vec b) {
  const Words d;
  auto odd = hn::Zero(d);
  const auto even = hn::ReorderWidenMulAccumulate(d, hn::BitCast(Shorts(), a),
                                                  hn::BitCast(Shorts(), b), hn::Zero(d), odd);
  return hn::RearrangeToOddPlusEven(even, odd);
}

// The weights of both neighbours, 1 << 14 together, from 16 binary places.
HWY_INLINE Vec place_weights(Vec place) {
  const Words d;
  const auto odd = hn::And(hn::ShiftRight<2>(place), hn::Set(d, 0x3fff));
  return pack(hn::Sub(hn::Set(d, 1 << 14), odd), odd);
}

// Blends a channel of left and right pixels as loaded, with 7 binary places.
template <int kChannel>
HWY_INLINE Vec across(Vec left, Vec right, Vec weights) {
  const Words d;
  const auto mask = hn::Set(d, 255);
  const auto pair = pack(hn::And(hn::ShiftRight<8 * kChannel>(left), mask),
                         hn::And(hn::ShiftRight<8 * kChannel>(right), mask));
  return hn::ShiftRight<7>(hn::Add(dot(pair, weights), hn::Set(d, 1 << 6)));
}

struct Corners {
  Vec top_left, top_right, bottom_left, bottom_right;
};

template <int kChannel>
HWY_INLINE Vec blend(const Corners& c, Vec x_weights, Vec y_weights) {
  const auto top = across<kChannel>(c.top_left, c.top_right, x_weights);
  const auto bottom = across<kChannel>(c.bottom_left, c.bottom_right, x_weights);
  const auto sum = dot(pack(top, bottom), y_weights);
  return hn::ShiftRight<21>(hn::Add(sum, hn::Set(Words(), 1 << 20)));
}

HWY_INLINE Corners gather(const Bordered& image, Vec x, Vec y) {
  const Words d;
  const auto whole = [&](Vec place) HWY_ATTR {
    return hn::Min(hn::Max(hn::ShiftRight<16>(place), hn::Set(d, -kBorder)),
                   hn::Set(d, image.size));
  };
  const auto stride = static_cast<std::int32_t>(image.stride);
  const auto at = hn::Add(hn::Mul(whole(y), hn::Set(d, stride)), whole(x));
  const auto* base = reinterpret_cast<const std::int32_t*>(image.origin);
  const auto below = hn::Add(at, hn::Set(d, stride)), one = hn::Set(d, 1);
  return {hn::GatherIndex(d, base, at), hn::GatherIndex(d, base, hn::Add(at, one)),
          hn::GatherIndex(d, base, below), hn::GatherIndex(d, base, hn::Add(below, one))};
}

void sample_ray(const Bordered& image, const Ray& ray, std::size_t n, std::uint32_t* out) {
  const Words d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto step = hn::Iota(d, static_cast<std::int32_t>(i));
    const auto x = hn::Add(hn::Set(d, ray.x), hn::Mul(step, hn::Set(d, ray.dx)));
    const auto y = hn::Add(hn::Set(d, ray.y), hn::Mul(step, hn::Set(d, ray.dy)));
    const auto corners = gather(image, x, y);
    const auto x_weights = place_weights(x), y_weights = place_weights(y);
    const auto red = blend<0>(corners, x_weights, y_weights);
    const auto green = hn::ShiftLeft<8>(blend<1>(corners, x_weights, y_weights));
    const auto blue = hn::ShiftLeft<16>(blend<2>(corners, x_weights, y_weights));
    hn::StoreU(hn::Or(red, hn::Or(green, blue)), d, reinterpret_cast<std::int32_t*>(out + i));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace loaderscope::augment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loaderscope::augment {

HWY_EXPORT(sample_ray);

void sample_ray(const Bordered& image, const Ray& ray, std::size_t n, std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(sample_ray)(image, ray, n, out);
}

}  // namespace loaderscope::augment
#endif
