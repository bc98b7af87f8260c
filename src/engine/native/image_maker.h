// Makers of samples from images: all of the work in the worker, or a part of it left to the device.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "engine/native/data_maker.h"
#include "loaderscope/augment.h"
#include "loaderscope/decode.h"

namespace loaderscope::native {

// Reads the stored bytes, decodes what the crop needs, augments into the slot.
class ImageMaker : public DataMaker {
 public:
  ImageMaker(const DataPipeline& pipeline, const std::atomic<int>& stop);

 protected:
  MadeSample make_one(const SampleTask& task, const Origin& origin, SpanWriter& spans) override;

  struct Decoded {
    Pixels pixels;
    AugmentRecipe recipe;
  };
  // `keep` may be empty. It is a part of the decode, and copies what it needs.
  using KeepDecoded = std::function<void(const Decoded& decoded)>;
  Decoded decode(const SampleTask& task, std::int64_t sample, std::span<const std::byte> stored,
                 SpanWriter& spans, const KeepDecoded& keep = {});

  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Augmenter> augmenter_;
};

// The maker for a device that augments, and may decode. It fills mixed slots. No stage may be
// knocked out.
std::unique_ptr<SampleMaker> make_device_image_maker(const DataPipeline& pipeline,
                                                     const std::atomic<int>& stop);

}  // namespace loaderscope::native
