// The size of slots whose samples differ in size.
#pragma once

#include <atomic>

#include "engine/pipeline/batch_layout.h"
#include "loaderscope/augment.h"
#include "loaderscope/device.h"
#include "loaderscope/source.h"
#include "source/options.h"

namespace loaderscope::native {

// Pixels that are larger than this number of crops cost more to copy than to resize in a worker.
inline constexpr Bytes kMaxCrops = 8;

// Decoded RGB of a region.
constexpr Bytes pixel_bytes(const Region& region) {
  return Bytes{3} * region.width * region.height;
}

struct SlotSizeOptions {
  std::int64_t batch_size = 0;
  double stored_share = 0;  // share of the samples that are left as stored bytes; else pixels
  ResidentForm resident = ResidentForm::no;  // samples that the device keeps take no room
  const AugmentOptions* augment = nullptr;
  std::uint64_t seed = 0;
};

// `device` lacks what the settings say: where images are decoded, and the number of batches.
struct SlotChoice {
  BatchLayout layout;
  MakePlan device;
};

// Reads some samples of the data, drawn by the seed. Samples that cannot be read are left out.
SlotChoice choose_slots(const Source& source, const SlotSizeOptions& options,
                        const SourceContext& context);

}  // namespace loaderscope::native
