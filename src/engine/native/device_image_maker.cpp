// The work of a worker on an image that the device finishes. The slot gets one of three:
// - the stored bytes, if the device decodes them
// - the decoded pixels of the region that the crop needs
// - the crop, resized and mirrored, if the pixels have no room or are much larger
#include <algorithm>
#include <cstring>
#include <optional>

#include "device/cuda/make_augment_job.h"
#include "engine/native/image_maker.h"
#include "engine/native/image_refusal.h"
#include "engine/native/resident_data.h"
#include "engine/native/slot_size.h"

namespace loaderscope::native {
namespace {

AugmentOptions crop_options(AugmentOptions options) {
  options.operations.resize(1);
  options.transfer = Transfer::u8;
  options.layout = Layout::nhwc;
  return options;
}

class DeviceImageMaker final : public ImageMaker {
 public:
  DeviceImageMaker(const DataPipeline& pipeline, const std::atomic<int>& stop)
      : ImageMaker(pipeline, stop), cropper_(make_augmenter(crop_options(pipeline.augment))) {}

  void count_decode(MakeListener::Way way, std::string_view reason) override {
    if (way == MakeListener::Way::cuda) return pipeline_.decodes->move_to_cuda();
    pipeline_.decodes->move_to_cpu(reason);
  }
  void replace(const SampleTask& task, std::int64_t sample, const SampleError& error) override {
    pipeline_.decodes->forget_device();
    ImageMaker::replace(task, sample, error);
  }

 private:
  MadeSample make_one(const SampleTask& task, const Origin& origin, SpanWriter& spans) override {
    const DevicePlan& device = pipeline_.plan->on_device;
    const bool is_asked = task.crop_recipe == nullptr && device.decodes_sample(task.execution);
    std::string_view refusal;
    MadeSample made;
    if (task.crop_recipe == nullptr && put_held(task, origin.sample, spans, made)) return made;
    const auto stored = read(task, origin, spans, nullptr, [&](std::span<const std::byte> bytes) {
      if (is_asked) refusal = leave_stored(task, origin.sample, bytes, made);
    });
    if (!made.is_stored) {
      decode(task, origin.sample, stored, spans, [&](const Decoded& decoded) {
        made.copied = put_pixels(task, origin.sample, decoded);
      });
    }
    if (device.decodes() && made.is_stored) pipeline_.decodes->count_device();
    if (device.decodes() && !made.is_stored) pipeline_.decodes->count_cpu(refusal);
    made.read = deliver_stored(stored);
    return made;
  }

  // Puts a sample that the device keeps into the slot: its entry alone. False: it is not kept, or
  // its crop is for the CPU.
  bool put_held(const SampleTask& task, std::int64_t sample, SpanWriter& spans, MadeSample& made) {
    const DevicePlan& device = pipeline_.plan->on_device;
    if (pipeline_.resident == nullptr || !device.holds_sample(task.execution)) return false;
    const ResidentData::Sample* const held = pipeline_.resident->find(sample);
    if (held == nullptr) return false;
    StageScope scope(spans, Stage::augment, StageScope::Kind::runs);
    SampleEntry entry;
    entry.is_held = true;
    entry.kind = device.decodes() ? SampleEntry::Kind::stored : SampleEntry::Kind::pixels;
    entry.sample = sample;
    entry.offset = held->offset;
    entry.bytes = held->bytes;
    entry.image = held->image;
    entry.recipe = augmenter_->choose(task.execution.epoch, sample, held->image);
    entry.held = device.decodes() ? entry.recipe.region
                                  : Region{0, 0, held->image.width, held->image.height};
    if (!cuda::fits_kernel(pipeline_.augment, entry.recipe) ||
        pixel_bytes(entry.held) > kMaxRegionBytes)
      return false;
    static_cast<void>(task.room->take(0, pipeline_.plan->layout));
    put_entry(task, entry);
    if (device.decodes()) pipeline_.decodes->count_device();
    made = {held->bytes, device.decodes(), 0, true};
    return true;
  }

  // Puts the stored bytes into the slot. Returns why not, or "".
  std::string_view leave_stored(const SampleTask& task, std::int64_t sample,
                                std::span<const std::byte> stored, MadeSample& made) const {
    ImageHeader image;
    if (const std::string_view refusal =
            find_refusal(stored, pipeline_.decode.largest_pixels, image);
        !refusal.empty())
      return refusal;
    const AugmentRecipe recipe = augmenter_->choose(task.execution.epoch, sample, image);
    if (!cuda::fits_kernel(pipeline_.augment, recipe)) return DecodeCounts::kCrop;
    if (pixel_bytes(recipe.region) > kMaxRegionBytes) return kTooLarge;
    const auto bytes = static_cast<Bytes>(stored.size());
    const std::optional<Bytes> offset = task.room->take(bytes, pipeline_.plan->layout);
    if (!offset) return DecodeCounts::kNoRoom;
    std::memcpy(task.place + *offset, stored.data(), stored.size());
    SampleEntry entry;
    entry.kind = SampleEntry::Kind::stored;
    entry.offset = *offset;
    entry.bytes = bytes;
    entry.sample = sample;
    entry.recipe = recipe;
    entry.held = entry.recipe.region;
    entry.image = image;
    put_entry(task, entry);
    made.is_stored = true;
    made.copied = bytes;
    return "";
  }

  // Returns the bytes in the slot.
  Bytes put_pixels(const SampleTask& task, std::int64_t sample, const Decoded& decoded) {
    if (task.crop_recipe != nullptr) return put_replacement(task, decoded);
    const Pixels& pixels = decoded.pixels;
    SampleEntry entry;
    entry.kind = SampleEntry::Kind::pixels;
    entry.sample = sample;
    entry.held = pixels.region;
    entry.scale_denominator = pixels.scale_denominator;
    entry.recipe = decoded.recipe;
    entry.bytes = pixel_bytes(pixels.region);
    const BatchLayout& layout = pipeline_.plan->layout;
    std::optional<Bytes> offset;
    if (entry.bytes <= kMaxCrops * layout.crop_bytes &&
        cuda::fits_kernel(pipeline_.augment, decoded.recipe))
      offset = task.room->take(entry.bytes, layout);
    if (!offset) return put_crop(task, sample, decoded);
    entry.offset = *offset;
    const auto row = static_cast<std::size_t>(pixel_bytes({0, 0, pixels.region.width, 1}));
    for (int y = 0; y < pixels.region.height; ++y) {
      std::memcpy(task.place + *offset + static_cast<std::size_t>(y) * row,
                  pixels.data + static_cast<std::size_t>(y) * pixels.stride, row);
    }
    put_entry(task, entry);
    return entry.bytes;
  }

  Bytes put_crop(const SampleTask& task, std::int64_t sample, const Decoded& decoded) {
    const int side = pipeline_.augment.size;
    SampleEntry entry;
    entry.kind = SampleEntry::Kind::crop;
    entry.sample = sample;
    entry.held = {0, 0, side, side};
    entry.recipe = decoded.recipe;
    entry.bytes = pixel_bytes(entry.held);
    entry.offset = task.room->take(entry.bytes, pipeline_.plan->layout).value();
    make_crop(decoded, task.place + entry.offset);
    put_entry(task, entry);
    return entry.bytes;
  }

  Bytes put_replacement(const SampleTask& task, const Decoded& decoded) {
    make_crop(decoded, task.place);
    *task.crop_recipe = decoded.recipe;
    return 0;
  }

  void make_crop(const Decoded& decoded, std::byte* place) {
    AugmentRecipe crop = decoded.recipe;
    crop.step_count = 0;
    cropper_->apply(decoded.pixels, crop, place);
  }

  static void put_entry(const SampleTask& task, const SampleEntry& entry) {
    std::memcpy(task.place + static_cast<std::size_t>(task.position) * sizeof entry, &entry,
                sizeof entry);
  }

  std::unique_ptr<Augmenter> cropper_;
};

}  // namespace

std::unique_ptr<SampleMaker> make_device_image_maker(const DataPipeline& pipeline,
                                                     const std::atomic<int>& stop) {
  return std::make_unique<DeviceImageMaker>(pipeline, stop);
}

}  // namespace loaderscope::native
