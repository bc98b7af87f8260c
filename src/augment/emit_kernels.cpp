#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/emit_kernels.cpp"
#include "augment/kernels.h"
#include "augment/simd.h"

HWY_BEFORE_NAMESPACE();
namespace loaderscope::augment {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToSigned<Floats>;

template <int kChannel>
HWY_INLINE auto channel(const std::uint32_t* pixels) {
  const Words d;
  const auto all = hn::LoadU(d, reinterpret_cast<const std::int32_t*>(pixels));
  return hn::And(hn::ShiftRight<8 * kChannel>(all), hn::Set(d, 255));
}

// A difference and then a product: no instruction set can fuse them, so all round alike.
template <int kChannel>
HWY_INLINE auto scaled(const std::uint32_t* pixels, const Scaling& scaling) {
  const Floats d;
  const auto value = hn::ConvertTo(d, channel<kChannel>(pixels));
  const auto centred = hn::Sub(value, hn::Set(d, scaling.subtract[kChannel]));
  return hn::Mul(centred, hn::Set(d, scaling.multiply[kChannel]));
}

// Calls body(i) for vectors of `lanes` that cover 0 .. n - 1; the last one may overlap the one
// before.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t n, std::size_t lanes, const Body& body) {
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i);
  if (i < n) body(n - lanes);
}

void emit_planar_f32(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     const Planes& to) {
  const Floats d;
  float* const red = reinterpret_cast<float*>(to.row[0]);
  float* const green = reinterpret_cast<float*>(to.row[1]);
  float* const blue = reinterpret_cast<float*>(to.row[2]);
  for_each_vector(n, hn::Lanes(d), [&](std::size_t i) HWY_ATTR {
    hn::StoreU(scaled<0>(pixels + i, scaling), d, red + i);
    hn::StoreU(scaled<1>(pixels + i, scaling), d, green + i);
    hn::StoreU(scaled<2>(pixels + i, scaling), d, blue + i);
  });
}

void emit_packed_f32(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     std::byte* to) {
  const Floats d;
  float* const out = reinterpret_cast<float*>(to);
  for_each_vector(n, hn::Lanes(d), [&](std::size_t i) HWY_ATTR {
    hn::StoreInterleaved3(scaled<0>(pixels + i, scaling), scaled<1>(pixels + i, scaling),
                          scaled<2>(pixels + i, scaling), d, out + 3 * i);
  });
}

// AVX2 and later have the instruction; Highway's emulation elsewhere does not round to nearest.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
bool has_f16() { return true; }

using Halves = hn::Rebind<hwy::float16_t, Floats>;
using HalfBits = hn::Rebind<std::uint16_t, Floats>;

void emit_planar_f16(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     const Planes& to) {
  const Halves d;
  auto* const red = reinterpret_cast<hwy::float16_t*>(to.row[0]);
  auto* const green = reinterpret_cast<hwy::float16_t*>(to.row[1]);
  auto* const blue = reinterpret_cast<hwy::float16_t*>(to.row[2]);
  for_each_vector(n, hn::Lanes(d), [&](std::size_t i) HWY_ATTR {
    hn::StoreU(hn::DemoteTo(d, scaled<0>(pixels + i, scaling)), d, red + i);
    hn::StoreU(hn::DemoteTo(d, scaled<1>(pixels + i, scaling)), d, green + i);
    hn::StoreU(hn::DemoteTo(d, scaled<2>(pixels + i, scaling)), d, blue + i);
  });
}

void emit_packed_f16(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     std::byte* to) {
  const Halves d;
  const HalfBits bits;
  auto* const out = reinterpret_cast<std::uint16_t*>(to);
  for_each_vector(n, hn::Lanes(d), [&](std::size_t i) HWY_ATTR {
    const auto red = hn::BitCast(bits, hn::DemoteTo(d, scaled<0>(pixels + i, scaling)));
    const auto green = hn::BitCast(bits, hn::DemoteTo(d, scaled<1>(pixels + i, scaling)));
    const auto blue = hn::BitCast(bits, hn::DemoteTo(d, scaled<2>(pixels + i, scaling)));
    hn::StoreInterleaved3(red, green, blue, bits, out + 3 * i);
  });
}
#else
bool has_f16() { return false; }
void emit_planar_f16(const std::uint32_t*, std::size_t, const Scaling&, const Planes&) {}
void emit_packed_f16(const std::uint32_t*, std::size_t, const Scaling&, std::byte*) {}
#endif

using Bytes128 = hn::Full128<std::uint8_t>;
using Words128 = hn::Full128<std::uint32_t>;

// Four pixels as R R R R G G G G B B B B 0 0 0 0.
HWY_INLINE auto four_planes(const std::uint32_t* pixels) {
  alignas(16) static constexpr std::uint8_t kOrder[16] = {0, 4, 8,  12, 1, 5, 9,  13,
                                                          2, 6, 10, 14, 3, 7, 11, 15};
  const auto bytes = hn::LoadU(Bytes128(), reinterpret_cast<const std::uint8_t*>(pixels));
  return hn::BitCast(Words128(), hn::TableLookupBytes(bytes, hn::Load(Bytes128(), kOrder)));
}

void emit_planar_u8(const std::uint32_t* pixels, std::size_t n, const Planes& to) {
  const Words128 d;
  const auto store = [&](auto words, int plane, std::size_t i) HWY_ATTR {
    auto* const out = reinterpret_cast<std::uint8_t*>(to.row[static_cast<std::size_t>(plane)]);
    hn::StoreU(hn::BitCast(Bytes128(), words), Bytes128(), out + i);
  };
  for_each_vector(n, 16, [&](std::size_t i) HWY_ATTR {
    const auto a = four_planes(pixels + i), b = four_planes(pixels + i + 4);
    const auto c = four_planes(pixels + i + 8), e = four_planes(pixels + i + 12);
    const auto ac = hn::InterleaveLower(d, a, c),
               be = hn::InterleaveLower(d, b, e);  // Ra Rc Ga Gc, Rb Re Gb Ge
    store(hn::InterleaveLower(d, ac, be), 0, i);
    store(hn::InterleaveUpper(d, ac, be), 1, i);
    store(hn::InterleaveLower(d, hn::InterleaveUpper(d, a, c), hn::InterleaveUpper(d, b, e)), 2, i);
  });
}

// Each store writes 12 bytes and 4 that the next one writes again; the last pixels go one by one.
void emit_packed_u8(const std::uint32_t* pixels, std::size_t n, std::byte* to) {
  alignas(16) static constexpr std::uint8_t kOrder[16] = {0,  1,  2,  4,  5, 6, 8,  9,
                                                          10, 12, 13, 14, 3, 7, 11, 15};
  const auto order = hn::Load(Bytes128(), kOrder);
  auto* const out = reinterpret_cast<std::uint8_t*>(to);
  std::size_t i = 0;
  for (; i + 6 <= n; i += 4) {
    const auto bytes = hn::LoadU(Bytes128(), reinterpret_cast<const std::uint8_t*>(pixels + i));
    hn::StoreU(hn::TableLookupBytes(bytes, order), Bytes128(), out + 3 * i);
  }
  for (; i < n; ++i) {
    for (std::size_t c = 0; c < 3; ++c)
      out[3 * i + c] = static_cast<std::uint8_t>(pixels[i] >> (8 * c));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace loaderscope::augment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loaderscope::augment {

HWY_EXPORT(emit_planar_f32);
HWY_EXPORT(emit_planar_f16);
HWY_EXPORT(emit_planar_u8);
HWY_EXPORT(emit_packed_f32);
HWY_EXPORT(emit_packed_f16);
HWY_EXPORT(emit_packed_u8);
HWY_EXPORT(has_f16);

void emit_planar_f32(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     const Planes& to) {
  HWY_DYNAMIC_DISPATCH(emit_planar_f32)(pixels, n, scaling, to);
}
void emit_planar_f16(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     const Planes& to) {
  HWY_DYNAMIC_DISPATCH(emit_planar_f16)(pixels, n, scaling, to);
}
void emit_planar_u8(const std::uint32_t* pixels, std::size_t n, const Planes& to) {
  HWY_DYNAMIC_DISPATCH(emit_planar_u8)(pixels, n, to);
}
void emit_packed_f32(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     std::byte* to) {
  HWY_DYNAMIC_DISPATCH(emit_packed_f32)(pixels, n, scaling, to);
}
void emit_packed_f16(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     std::byte* to) {
  HWY_DYNAMIC_DISPATCH(emit_packed_f16)(pixels, n, scaling, to);
}
void emit_packed_u8(const std::uint32_t* pixels, std::size_t n, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(emit_packed_u8)(pixels, n, to);
}
bool has_f16() { return HWY_DYNAMIC_DISPATCH(has_f16)(); }

}  // namespace loaderscope::augment
#endif
