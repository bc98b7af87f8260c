#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/resize_kernels.cpp"
#include "augment/kernels.h"
#include "augment/simd.h"

HWY_BEFORE_NAMESPACE();
namespace loaderscope::augment {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls body(i) for vectors of `lanes` that cover 0 .. n - 1; the last one may overlap the one
// before.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t n, std::size_t lanes, const Body& body) {
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i);
  if (i < n) body(n - lanes);
}

void blend_two_rows(const std::uint8_t* HWY_RESTRICT a, const std::uint8_t* HWY_RESTRICT b,
                    int weight, std::size_t n, std::int16_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::int16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const auto w = hn::Set(d, static_cast<std::int16_t>(weight));
  for_each_vector(n, hn::Lanes(d), [&](std::size_t i) HWY_ATTR {
    const auto from = hn::PromoteTo(d, hn::LoadU(d8, a + i));
    const auto to = hn::PromoteTo(d, hn::LoadU(d8, b + i));
    const auto step = hn::MulFixedPoint15(hn::ShiftLeft<7>(hn::Sub(to, from)), w);
    hn::StoreU(hn::Add(hn::ShiftLeft<7>(from), step), d, out + i);
  });
}

// a.even * b.even + a.odd * b.odd + sum. The order of the two sums does not matter: integers.
template <class D32, class V16, class V32>
HWY_INLINE V32 multiply_pairs(D32 d32, V16 a, V16 b, V32 sum) {
  auto odd = hn::Zero(d32);
  const auto even = hn::ReorderWidenMulAccumulate(d32, a, b, sum, odd);
  return hn::RearrangeToOddPlusEven(even, odd);
}

template <int kPairs>  // 0: any number
HWY_INLINE void blend_row_pairs(const RowBlend& blend, std::size_t n,
                                std::int16_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::int16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const hn::RepartitionToWide<decltype(d)> d32;
  const int shift = blend.bits - blend.fraction, pairs = kPairs ? kPairs : blend.pairs;
  const auto half = hn::Set(d32, 1 << (shift - 1));
  for_each_vector(n, hn::Lanes(d), [&](std::size_t i) HWY_ATTR {
    auto lower = half, upper = half;
    for (int k = 0; k < pairs; ++k) {
      const auto even = hn::PromoteTo(d, hn::LoadU(d8, blend.rows[2 * k] + i));
      const auto odd = hn::PromoteTo(d, hn::LoadU(d8, blend.rows[2 * k + 1] + i));
      const auto w =
          hn::BitCast(d, hn::Set(d32, blend.weights[static_cast<std::size_t>(k) * blend.step]));
      lower = multiply_pairs(d32, hn::InterleaveLower(d, even, odd), w, lower);
      upper = multiply_pairs(d32, hn::InterleaveUpper(d, even, odd), w, upper);
    }
    lower = hn::ShiftRightSame(lower, shift);
    upper = hn::ShiftRightSame(upper, shift);
    hn::StoreU(hn::ReorderDemote2To(d, lower, upper), d, out + i);
  });
}

void blend_rows(const RowBlend& blend, std::size_t n, std::int16_t* out) {
  blend.pairs == 2 ? blend_row_pairs<2>(blend, n, out) : blend_row_pairs<0>(blend, n, out);
}

// Block b of the result: the 8 values at row + 3 * first[4 * b].
HWY_INLINE auto load_blocks(hn::Full128<std::int16_t> d, const std::int16_t* row,
                            const std::int32_t* first) {
  return hn::LoadU(d, row + 3 * static_cast<std::ptrdiff_t>(first[0]));
}
#if HWY_MAX_BYTES >= 32
HWY_INLINE auto load_blocks(hn::Full256<std::int16_t> d, const std::int16_t* row,
                            const std::int32_t* first) {
  const hn::Full128<std::int16_t> half;
  return hn::Combine(d, load_blocks(half, row, first + 4), load_blocks(half, row, first));
}
#endif
#if HWY_MAX_BYTES >= 64
HWY_INLINE auto load_blocks(hn::Full512<std::int16_t> d, const std::int16_t* row,
                            const std::int32_t* first) {
  const hn::Full256<std::int16_t> half;
  return hn::Combine(d, load_blocks(half, row, first + 8), load_blocks(half, row, first));
}
#endif

// R G B r g b . . -> R r G g B b 0 0 as 16-bit values: two neighbouring pixels, ready to be
// multiplied in pairs.
alignas(16) constexpr std::uint8_t kPairUp[16] = {0, 1, 6,  7,  2,   3,   8,   9,
                                                  4, 5, 10, 11, 128, 128, 128, 128};
alignas(16) constexpr std::uint8_t kTranspose[16] = {0, 4, 8,  12, 1, 5, 9,  13,
                                                     2, 6, 10, 14, 3, 7, 11, 15};

template <int kPairs>  // 0: any number
HWY_INLINE void resize_row_pairs(const std::int16_t* HWY_RESTRICT row, const Taps& taps,
                                 int fraction, std::uint32_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::int16_t> d;
  const hn::RepartitionToWide<decltype(d)> d32;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  const int shift = taps.bits + fraction, pairs = kPairs ? kPairs : taps.pairs;
  const auto half = hn::Set(d32, 1 << (shift - 1));
  const auto pair_up = hn::BitCast(d, hn::LoadDup128(d8, kPairUp));
  const auto transpose = hn::LoadDup128(d8, kTranspose);
  for (std::size_t i = 0; i < taps.padded; i += hn::Lanes(d32)) {
    // p0 makes the first pixel of each group of four (one 128-bit block), p1 the second, ...
    auto p0 = half, p1 = half, p2 = half, p3 = half;
    const std::int32_t* first = taps.first.data() + i;
    for (int k = 0; k < pairs; ++k) {
      const std::int16_t* from = row + 6 * k;
      const auto load = [&](int pixel) HWY_ATTR {
        return hn::TableLookupBytesOr0(load_blocks(d, from, first + pixel), pair_up);
      };
      const auto w =
          hn::LoadU(d32, taps.weights.data() + static_cast<std::size_t>(k) * taps.padded + i);
      p0 = multiply_pairs(d32, load(0), hn::BitCast(d, hn::Broadcast<0>(w)), p0);
      p1 = multiply_pairs(d32, load(1), hn::BitCast(d, hn::Broadcast<1>(w)), p1);
      p2 = multiply_pairs(d32, load(2), hn::BitCast(d, hn::Broadcast<2>(w)), p2);
      p3 = multiply_pairs(d32, load(3), hn::BitCast(d, hn::Broadcast<3>(w)), p3);
    }
    // Values are below 256, so four of them fit one lane: R R R R, G G G G, B B B B, 0. Then bytes
    // change places.
    const auto p01 =
        hn::Or(hn::ShiftRightSame(p0, shift), hn::ShiftLeft<8>(hn::ShiftRightSame(p1, shift)));
    const auto p23 =
        hn::Or(hn::ShiftRightSame(p2, shift), hn::ShiftLeft<8>(hn::ShiftRightSame(p3, shift)));
    const auto planes = hn::BitCast(d8, hn::Or(p01, hn::ShiftLeft<16>(p23)));
    hn::StoreU(hn::TableLookupBytes(planes, transpose), d8,
               reinterpret_cast<std::uint8_t*>(out + i));
  }
}

void resize_row(const std::int16_t* row, const Taps& taps, int fraction, std::uint32_t* out) {
  if (taps.pairs == 1) return resize_row_pairs<1>(row, taps, fraction, out);
  if (taps.pairs == 2) return resize_row_pairs<2>(row, taps, fraction, out);
  resize_row_pairs<0>(row, taps, fraction, out);
}

std::string target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace loaderscope::augment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loaderscope::augment {

HWY_EXPORT(blend_two_rows);
HWY_EXPORT(blend_rows);
HWY_EXPORT(resize_row);
HWY_EXPORT(target_name);

void blend_two_rows(const std::uint8_t* a, const std::uint8_t* b, int weight, std::size_t n,
                    std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(blend_two_rows)(a, b, weight, n, out);
}

void blend_rows(const RowBlend& blend, std::size_t n, std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(blend_rows)(blend, n, out);
}

void resize_row(const std::int16_t* row, const Taps& taps, int fraction, std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(resize_row)(row, taps, fraction, out);
}

std::string target_name() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace loaderscope::augment
#endif
