#include "engine/native/image_maker.h"

namespace loaderscope::native {

ImageMaker::ImageMaker(const DataPipeline& pipeline, const std::atomic<int>& stop)
    : DataMaker(pipeline, stop),
      decoder_(make_any_decoder(pipeline.decode)),
      augmenter_(make_augmenter(pipeline.augment)) {}

MadeSample ImageMaker::make_one(const SampleTask& task, const Origin& origin, SpanWriter& spans) {
  std::span<const std::byte> stored;
  if (works(Stage::read)) {
    stored = read(task, origin, spans);
  } else if (works(Stage::decode)) {
    stored = origin.replayed->stored;
  }
  const auto bytes = static_cast<Bytes>(stored.size());
  Decoded decoded;
  if (works(Stage::decode)) {
    decoded = decode(task, origin.sample, stored, spans);
  } else if (works(Stage::augment)) {
    decoded = {origin.replayed->pixels, origin.replayed->recipe};
  }
  if (!works(Stage::augment)) return {.read = bytes};  // the slot holds finished samples
  StageScope scope(spans, Stage::augment, StageScope::Kind::runs, bytes);
  augmenter_->apply(decoded.pixels, decoded.recipe, task.place);
  inject(Stage::augment, task.execution, scope);
  return {.read = bytes};
}

ImageMaker::Decoded ImageMaker::decode(const SampleTask& task, std::int64_t sample,
                                       std::span<const std::byte> stored, SpanWriter& spans,
                                       const KeepDecoded& keep) {
  StageScope scope(spans, Stage::decode, StageScope::Kind::runs, static_cast<Bytes>(stored.size()));
  Decoded decoded;
  decoded.recipe = augmenter_->choose(task.execution.epoch, sample, decoder_->open(stored));
  decoded.pixels = decoder_->decode(decoded.recipe.region);
  if (keep) keep(decoded);
  inject(Stage::decode, task.execution, scope);
  return decoded;
}

}  // namespace loaderscope::native
