#include "engine/native/slot_size.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "dataset/image_facts.h"
#include "dataset/jpeg_engines.h"
#include "loaderscope/cost.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

constexpr std::int64_t kMaxDrawn = 256;
constexpr int kUsualSide = 512;
constexpr std::int64_t kSlotDraw = -4;  // the place of the epoch in draws

// Reads samples by themselves, before there are workers.
class SlotShares {
 public:
  SlotShares(const Source& source, const SlotSizeOptions& options)
      : options_(options),
        reader_(source.make_reader()),
        augmenter_(make_augmenter(*options.augment)),
        crop_bytes_(pixel_bytes({0, 0, options.augment->size, options.augment->size})) {}

  Bytes crop_bytes() const { return crop_bytes_; }

  // Adds the bytes that a slot would hold of the sample. Throws SampleError.
  void add(std::int64_t sample) {
    const std::span<const std::byte> stored = reader_->read(sample);
    const auto region = static_cast<double>(read_region(stored, sample));
    const auto limit = static_cast<double>(kMaxCrops * crop_bytes_);
    // Workers decode a part of the images, and all that the device refuses.
    const bool is_held = options_.resident == ResidentForm::decoded;
    const double pixels = region <= limit && !is_held ? region : 0;
    const bool is_left = is_for_device_ && options_.resident == ResidentForm::no;
    const bool is_held_stored = is_for_device_ && options_.resident == ResidentForm::stored;
    const double left = is_left ? static_cast<double>(stored.size()) : is_held_stored ? 0 : pixels;
    sum_ += options_.stored_share * left + (1 - options_.stored_share) * pixels;
    largest_ = std::max(
        {largest_, options_.stored_share > 0 ? left : 0, options_.stored_share < 1 ? pixels : 0});
    region_sum_ += is_held_stored ? whole_bytes_ : region;
    ++count_;
  }

  DrawnSizes sizes() const {
    if (count_ == 0) return {};
    return {std::llround(sum_ / static_cast<double>(count_)), std::llround(largest_)};
  }
  MakePlan plan() const {
    MakePlan plan;
    plan.augment = *options_.augment;
    plan.batch = options_.batch_size;
    const ImageHeader large = large_image();
    plan.width = large.width;
    plan.height = large.height;
    if (count_ > 0)
      plan.mean_region_bytes = std::llround(region_sum_ / static_cast<double>(count_));
    return plan;
  }

 private:
  // Returns the image at the 99th percentile by pixels, so that one huge image does not set the
  // memory. A usual one if none is known.
  ImageHeader large_image() const {
    if (images_.empty()) return {kUsualSide, kUsualSide};
    std::vector<ImageHeader> sorted = images_;
    const auto pixels = [](const ImageHeader& image) {
      return std::int64_t{image.width} * image.height;
    };
    const auto at = static_cast<std::ptrdiff_t>((sorted.size() - 1) * 99 / 100);
    std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end(),
                     [&](const auto& a, const auto& b) { return pixels(a) < pixels(b); });
    return sorted[static_cast<std::size_t>(at)];
  }

  // Returns the bytes of the pixels that the crop needs. 0: the size of the image is unknown.
  Bytes read_region(std::span<const std::byte> stored, std::int64_t sample) {
    is_for_device_ = false;
    whole_bytes_ = 0;
    const dataset::ImageFacts facts = dataset::image_facts(stored);
    if (!facts.damage.empty() || facts.width <= 0 || facts.height <= 0) return 0;
    const ImageHeader header{static_cast<int>(facts.width), static_cast<int>(facts.height)};
    is_for_device_ = dataset::engine_refusal(facts).empty();
    if (is_for_device_) images_.push_back(header);
    whole_bytes_ = static_cast<double>(pixel_bytes({0, 0, header.width, header.height}));
    const Region region = augmenter_->choose(0, sample, header).region;
    return pixel_bytes(region);
  }

  const SlotSizeOptions& options_;
  std::unique_ptr<SampleReader> reader_;
  std::unique_ptr<Augmenter> augmenter_;
  Bytes crop_bytes_;
  double sum_ = 0, largest_ = 0, region_sum_ = 0;
  std::vector<ImageHeader> images_;  // images that the device may decode
  bool is_for_device_ = false;       // the last one is among them
  double whole_bytes_ = 0;           // decoded pixels of the last one
  std::int64_t count_ = 0;
};

}  // namespace

SlotChoice choose_slots(const Source& source, const SlotSizeOptions& options,
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
  SlotChoice choice;
  choice.layout =
      mixed_layout(options.batch_size, sizeof(SampleEntry), shares.crop_bytes(), shares.sizes());
  choice.device = shares.plan();
  choice.device.slot_bytes = choice.layout.slot_bytes;
  return choice;
}

}  // namespace loaderscope::native
