// Settings of a data set that lies in GPU memory.
#include "device/cuda/augment_job.h"
#include "loaderscope/errors.h"
#include "settings/resolve_steps.h"

namespace loaderscope::settings {
namespace {

// Side of a kept image of which a sample of that size is cropped, as 256 for 224.
std::int64_t usual_side(std::int64_t size) { return size + size / 7; }

void check_decoding(const RunConfig& c) {
  const bool decodes = c.image.decode.value.on_device();
  if (c.image.resident.value.form == ResidentForm::stored && !decodes)
    refuse(c, "resident", "the GPU keeps the stored bytes and must decode them",
           "give --decode hw, --decode gpu, or --resident decoded");
  if (c.image.resident.value.form == ResidentForm::decoded && decodes)
    refuse(c, "resident", "the images are decoded once, before the first batch",
           "give --decode cpu, or --resident stored");
}

void check_side(const RunConfig& c) {
  const std::int64_t side = c.image.resident.value.side, size = c.image.size;
  if (side < size)
    refuse(c, "resident", "an image that is kept is smaller than a sample",
           "give --resident decoded:" + std::to_string(usual_side(size)));
  if (side > cuda::kMaxKernelScale * size)
    refuse(c, "resident", "an image that is kept is too large for the GPU's augmentation",
           "give --resident decoded:" + std::to_string(usual_side(size)));
}

}  // namespace

void fill_resident(RunConfig& c) {
  Resident& resident = c.image.resident.value;
  if (!resident.holds_data()) return;
  check_decoding(c);
  if (c.image.augment_on.given && c.image.augment_on == AugmentOn::host)
    refuse(c, "augment-on",
           "contradicts " + setting_words(c, "resident") + ", which keeps the samples on the GPU",
           "leave it out");
  c.image.augment_on.value = AugmentOn::gpu;
  if (!c.has_data() && c.data.samples == 0)
    refuse(c, "resident", "the data set is endless, and memory is not", "give --samples N");
  if (resident.form != ResidentForm::decoded) return;
  if (resident.side == 0) resident.side = usual_side(c.image.size);
  check_side(c);
}

}  // namespace loaderscope::settings
