#include "dataset/make.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "dataset/files.h"
#include "dataset/fill.h"
#include "dataset/manifest.h"
#include "dataset/plan.h"
#include "dataset/shard_fill.h"
#include "loaderscope/cost.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

// Somebody may have removed some since the manifest was written.
bool has_all_images(const MakeOptions& options) {
  for (std::int64_t index = 0; index < options.count; ++index) {
    if (!is_written(options.path + "/" + image_path(options, index))) return false;
  }
  return true;
}

MakeResult fill(const MakeOptions& options, const Making& making, const MakeContext& context) {
  ShardFill filling;
  filling.folder = options.path;
  filling.count = options.count;
  filling.threads = options.threads;
  filling.sample_path = [&](std::int64_t index) { return image_path(options, index); };
  filling.make_maker = [&] { return making.make_maker(); };
  return fill_folder(filling, context);
}

}  // namespace

MakeResult make_dataset(const MakeOptions& options, const MakeContext& context) {
  check_options(options);
  const MadeFolder folder = made_folder(options);
  const FolderState before = state_of_folder(folder);
  if (before == FolderState::complete && has_all_images(options))
    return {0, options.count, 0, true};
  const Making making(options);
  const FolderInMaking filled(folder, before, making.bytes(), "lower --count");
  for (std::int64_t i = 0; i < options.classes; ++i) {
    make_folder(options.path + "/" + class_folder(options.classes, i));
  }
  const MakeResult result = fill(options, making, context);
  if (result.complete) filled.note_complete();
  return result;
}

std::string describe(const std::string& path, std::int64_t count, const MakeResult& result) {
  const std::string place = shown_text(path);
  if (!result.complete) {
    return fmt::format("{}: stopped with {} of {} images; run the same command again to continue",
                       place, result.made + result.found, count);
  }
  if (result.made == 0) return fmt::format("{}: holds these {} images already", place, count);
  return fmt::format(
      "{}: {} images made, {} ({} each){}", place, result.made,
      format_size(static_cast<double>(result.bytes)),
      format_size(static_cast<double>(result.bytes) / static_cast<double>(result.made)),
      result.found > 0 ? fmt::format(", {} were there", result.found) : "");
}

// `data make` in shards.

namespace {

constexpr std::int64_t kOrder = 2;  // salt of the shuffle of the images; 0 and 1 decide their
                                    // contents

// Maker of one thread, which makes the image at each place.
class ShuffledMaker final : public SampleMaker {
 public:
  ShuffledMaker(const MakeOptions& options, const Making& making)
      : options_(options), maker_(making.make_maker()) {}

  PackedSample make(std::int64_t place) override {
    const std::int64_t index = shuffled_index(place, options_.count, options_.seed, kOrder);
    return {index, format_row(options_.format).suffix(), maker_->make(index),
            static_cast<std::int32_t>(drawn_class(options_, index))};
  }

 private:
  const MakeOptions& options_;
  std::unique_ptr<ImageMaker> maker_;
};

void check_shards(const MakeOptions& options, const MadeShards& shards) {
  check_options(options);
  check_compression(*shards.writer, shards.compression);
  if (shards.shard_size < kMinShard)
    throw UsageError("--shard-size: expected at least 1MiB", "give --shard-size 256MiB");
  if (!shards.writer->takes_pixels) return;
  if (options.format != Format::raw)
    throw UsageError(
        "--format: expected raw, as " + std::string(shards.writer->row.name) + " holds pixels",
        "leave --format out");
  if (options.size.sigma > 0)
    throw UsageError("--size: expected one size for all images of an array", "give --size 224x224");
}

ShardPlan plan_shards(const MakeOptions& options, const MadeShards& shards, double bytes) {
  const double wanted = std::ceil(bytes / static_cast<double>(shards.shard_size));
  return {options.count,
          std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, options.count),
          options.classes};
}

MakeResult fill(const MakeOptions& options, const MadeShards& shards, const Making& making,
                const MakeContext& context) {
  std::mutex mutex;
  std::vector<std::unique_ptr<ShuffledMaker>> makers;
  ShardFilling filling;
  filling.container = {options.path,
                       shards.plan,
                       shards.compression,
                       {static_cast<std::uint32_t>(options.size.width),
                        static_cast<std::uint32_t>(options.size.height)}};
  filling.writer = shards.writer;
  filling.threads = options.threads;
  filling.make_maker = [&]() -> SampleMaker& {
    auto maker = std::make_unique<ShuffledMaker>(options, making);
    const std::lock_guard lock(mutex);
    return *makers.emplace_back(std::move(maker));
  };
  filling.stop_signal = context.stop_signal;
  filling.on_progress = [&](std::int64_t done) {
    if (context.on_progress) context.on_progress({done, options.count, 0});
  };
  const ShardsFilled filled = fill_shards(filling);
  return {filled.samples, filled.samples_found, filled.bytes, filled.complete};
}

}  // namespace

MakeResult make_shards(const MakeOptions& options, MadeShards shards, const MakeContext& context) {
  check_shards(options, shards);
  const Making making(options);
  shards.plan = plan_shards(options, shards, making.bytes());
  const MadeFolder folder = made_folder(options, shards);
  const FolderState before = state_of_folder(folder);
  const FolderInMaking filled(folder, before, making.bytes(), "lower --count");
  const MakeResult result = fill(options, shards, making, context);
  if (result.complete) filled.note_complete();
  return result;
}

}  // namespace loaderscope::dataset
