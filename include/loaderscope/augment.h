// Augmentation: from decoded pixels to the sample's place in the batch.
#pragma once

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

// The augmentation of one worker. Its draws are a hash of (seed, epoch, sample), so every worker
// makes the same bytes from the same sample of an epoch. The maker throws ValueError for unknown or
// contradicting operations.
class Augmenter {
 public:
  virtual ~Augmenter() = default;
  // Returns the region that must be decoded of an image of that size.
  virtual Region choose(std::int64_t epoch, std::int64_t sample, const ImageHeader& header) = 0;
  // Makes the sample from the pixels of the region chosen last and writes sample_bytes() to
  // `place`.
  virtual void apply(const Pixels& pixels, std::byte* place) = 0;
};

std::unique_ptr<Augmenter> make_augmenter(const AugmentOptions& options);
Bytes sample_bytes(const AugmentOptions& options);  // 3 x size x size x bytes of a value

// The instruction set that the kernels run with here: "AVX2", "AVX3", ... (for the record).
std::string simd_target();

}  // namespace loaderscope
