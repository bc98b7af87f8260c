// Augmentation: from decoded pixels to the sample's place in the batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/decode.h"
#include "loaderscope/rows.h"
#include "loaderscope/units.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

struct AugmentOptions {
  // Operations in order, "NAME[:PARAMETERS]", of operation_table(); the first one chooses the crop.
  std::vector<std::string> operations = {"random-resized-crop", "flip", "normalise"};
  int size = 224;  // side of the square output
  Transfer transfer = Transfer::f32;
  Layout layout = Layout::nchw;
  bool antialias = true;  // torchvision's default for a tensor; false: plain two-tap bilinear
  std::uint64_t seed = 0;
};

struct OperationRow {
  Row row;
  std::string_view parameters;  // "[SCALE_MIN..SCALE_MAX[:RATIO_MIN..RATIO_MAX]]", "" when none
};
std::span<const OperationRow> operation_table();  // src/augment/registry.cpp

// Position of the outputs of one axis on the image: the only mapping of coordinates. Output i
// covers [start + i * scale, start + (i + 1) * scale) of an axis where pixel p covers [p, p + 1).
// The filter reads pixels low .. high - 1 only.
struct AxisMap {
  double start = 0, scale = 1;
  int low = 0, high = 0;
};

// One operation on the image after the crop, with its random values.
struct RecipeStep {
  enum class Kind : std::uint8_t { mirror, warp, colour };
  static constexpr std::uint8_t kNoChange = 255;

  Kind kind = Kind::mirror;
  // colour: indices into `values` in the order of the changes; kNoChange after the last one.
  std::array<std::uint8_t, 4> order{};
  // warp: the place in the source of place (x, y) in the result, both relative to the centre, is
  // (v0 x + v1 y + v2, v3 x + v4 y + v5). colour: factors of brightness, contrast and saturation,
  // and turns of the hue.
  std::array<double, 6> values{};
};

inline constexpr std::size_t kMaxRecipeSteps = 8;

// The augmentation of one sample with all its random values: data that another thread, process or
// device can follow.
struct AugmentRecipe {
  Region region;             // pixels of the image that are needed
  AxisMap x, y;              // the crop
  bool is_mirrored = false;  // while it is resized
  std::uint8_t step_count = 0;
  std::array<RecipeStep, kMaxRecipeSteps> steps{};
};

// One sample of a batch that a device makes: what its slot holds of it, and the work that is left.
struct SampleEntry {
  enum class Kind : std::uint8_t {
    stored,  // stored bytes
    pixels,  // decoded RGB
    crop,    // decoded RGB, cut out, resized and mirrored: only the steps of the recipe are left
  };
  Kind kind = Kind::stored;
  bool is_held = false;         // refers to the data set that the device keeps
  std::int64_t sample = 0;      // index in the data set
  Bytes offset = 0, bytes = 0;  // place in the slot, or in the data that the device keeps
  Region held;                  // pixels and crop: size of the RGB; stored: region to decode
  ImageHeader image;            // stored: size of the whole image
  int scale_denominator = 1;    // pixels: as in Pixels
  AugmentRecipe recipe;
};

// The augmentation of one worker. Its draws are a hash of (seed, epoch, sample), so every worker
// makes the same bytes from the same sample of an epoch. The maker throws ValueError for unknown or
// contradicting operations.
class Augmenter {
 public:
  virtual ~Augmenter() = default;
  // Returns the recipe for an image of that size.
  virtual AugmentRecipe choose(std::int64_t epoch, std::int64_t sample,
                               const ImageHeader& header) const = 0;
  // Makes the sample from the pixels of the recipe's region and writes sample_bytes() to `place`.
  virtual void apply(const Pixels& pixels, const AugmentRecipe& recipe, std::byte* place) = 0;
};

std::unique_ptr<Augmenter> make_augmenter(const AugmentOptions& options);
Bytes sample_bytes(const AugmentOptions& options);  // 3 x size x size x bytes of a value

// The instruction set that the kernels run with here: "AVX2", "AVX3", ... (for the record).
std::string simd_target();

}  // namespace loaderscope
