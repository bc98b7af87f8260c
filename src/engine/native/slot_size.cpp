#include "engine/native/slot_size.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "dataset/image_facts.h"
#include "loaderscope/cost.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

constexpr std::int64_t kMaxDrawn = 256;
constexpr Bytes kPixelBytes = 3;
constexpr std::int64_t kSlotDraw = -4;  // the place of the epoch in draws

// Reads samples by themselves, before there are workers.
class SlotShares {
 public:
  SlotShares(const Source& source, const SlotSizeOptions& options)
      : options_(options),
        reader_(source.make_reader()),
        augmenter_(make_augmenter(*options.augment)),
        crop_bytes_(kPixelBytes * options.augment->size * options.augment->size) {}

  Bytes crop_bytes() const { return crop_bytes_; }

  // Adds the bytes that a slot would hold of the sample. Throws SampleError.
  void add(std::int64_t sample) {
    const std::span<const std::byte> stored = reader_->read(sample);
    const double pixels =
        options_.stored_share < 1 ? static_cast<double>(pixel_bytes(stored, sample)) : 0;
    const auto whole = static_cast<double>(stored.size());
    sum_ += options_.stored_share * whole + (1 - options_.stored_share) * pixels;
    largest_ = std::max({largest_, options_.stored_share > 0 ? whole : 0, pixels});
    ++count_;
  }

  DrawnSizes sizes() const {
    if (count_ == 0) return {};
    return {std::llround(sum_ / static_cast<double>(count_)), std::llround(largest_)};
  }

 private:
  // 0: the size of the image is unknown, or its pixels do not go into a slot.
  Bytes pixel_bytes(std::span<const std::byte> stored, std::int64_t sample) const {
    const dataset::ImageFacts facts = dataset::image_facts(stored);
    if (!facts.damage.empty() || facts.width <= 0 || facts.height <= 0) return 0;
    const ImageHeader header{static_cast<int>(facts.width), static_cast<int>(facts.height)};
    const Region region = augmenter_->choose(0, sample, header).region;
    const Bytes bytes = kPixelBytes * region.width * region.height;
    return bytes <= kMaxCrops * crop_bytes_ ? bytes : 0;
  }

  const SlotSizeOptions& options_;
  std::unique_ptr<SampleReader> reader_;
  std::unique_ptr<Augmenter> augmenter_;
  Bytes crop_bytes_;
  double sum_ = 0, largest_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace

BatchLayout choose_layout(const Source& source, const SlotSizeOptions& options,
                          const SourceContext& context) {
  SlotShares shares(source, options);
  const std::int64_t size = source.size();
  for (std::int64_t i = 0; i < std::min(size, kMaxDrawn); ++i) {
    context.throw_if_stopped();
    try {
      shares.add(shuffled_index(i, size, options.seed, kSlotDraw));
    } catch (const SampleError&) {
      // The run counts it.
    }
  }
  return mixed_layout(options.batch_size, sizeof(SampleEntry), shares.crop_bytes(), shares.sizes());
}

}  // namespace loaderscope::native
