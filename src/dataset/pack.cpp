#include "dataset/pack.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "dataset/files.h"
#include "dataset/manifest.h"
#include "dataset/random.h"
#include "dataset/sample_packer.h"
#include "dataset/shard_fill.h"

namespace loaderscope::dataset {
namespace {

// Returns the order of all samples. The first of them are packed.
std::vector<std::int64_t> order_of(std::int64_t samples, const PackOptions& options) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), 0);
  if (options.in_order) return order;
  Random random(options.seed, 0);
  for (std::size_t left = order.size(); left > 1; --left) {
    const auto drawn = static_cast<std::size_t>(random.uniform() * static_cast<double>(left));
    std::swap(order[left - 1], order[drawn]);
  }
  return order;
}

std::int64_t row_group_of(const PackOptions& options) {
  return options.row_group > 0 ? options.row_group : kUsualRowGroup;
}

PackResult fill(const OpenedData& data, const PackOptions& options, const PackPlan& plan,
                const PackContext& context) {
  const std::vector<std::int64_t> order = order_of(data.source->size(), options);
  std::mutex mutex;
  std::vector<std::unique_ptr<SamplePacker>> packers;
  ShardFilling filling;
  filling.container = {options.to, plan, options.compression, plan.sides, row_group_of(options)};
  filling.writer = options.writer;
  filling.threads = options.threads;
  filling.make_maker = [&]() -> SampleMaker& {
    auto packer = std::make_unique<SamplePacker>(data, options, order);
    const std::lock_guard lock(mutex);
    return *packers.emplace_back(std::move(packer));
  };
  filling.describe = [&](std::int64_t place) {
    return data.source->describe(order[static_cast<std::size_t>(place)]);
  };
  filling.stop_signal = context.stop_signal;
  filling.on_progress = [&](std::int64_t done) {
    if (context.on_progress) context.on_progress({done, plan.samples});
  };
  PackResult result;
  static_cast<ShardsFilled&>(result) = fill_shards(filling);
  result.plan = plan;
  result.has_labels = data.has_labels();
  for (const auto& packer : packers) {
    result.stored += packer->stored_bytes;
    result.as_they_were += packer->as_they_were;
    if (packer->error() != nullptr) result.error.merge(*packer->error());
  }
  return result;
}

std::string what_became(const PackResult& result) {
  std::string text =
      fmt::format("{} packed into {}, {}, where they had {}", plural(result.samples, "sample"),
                  plural(result.written, "shard"), format_size(static_cast<double>(result.bytes)),
                  format_size(static_cast<double>(result.stored)));
  if (result.found > 0) text += fmt::format(" ({} were there)", plural(result.found, "shard"));
  if (!result.has_labels) text += "; without classes, which are not known of such data";
  if (result.as_they_were > 0)
    text += fmt::format("; {} got no restart markers: no JPEG, or not as libjpeg writes it",
                        plural(result.as_they_were, "sample"));
  if (result.error.squares > 0)
    text += fmt::format("; the pixels of {} are {:.1f} dB (PSNR) from what they were made from",
                        plural(result.error.images, "image"), result.error.decibels());
  return text;
}

}  // namespace

PackResult pack_dataset(const PackOptions& asked, const PackContext& context) {
  check_options(asked);
  PackOptions options = asked;
  if (options.writer->takes_pixels) options.encode = Encoding{Format::raw};
  const OpenedData data = open_images(options.from, context.stop_signal);
  const PackPlan plan = plan_of(data, options);
  const MadeFolder folder = made_folder(options, plan);
  const FolderState before = state_of_folder(folder);
  const FolderInMaking filled(folder, before, plan.bytes, "give a folder on a larger disk");
  const auto begin = std::chrono::steady_clock::now();
  PackResult result = fill(data, options, plan, context);
  result.took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  if (result.complete && before != FolderState::complete) filled.note_complete();
  return result;
}

std::string describe(const PackOptions& options, const PackResult& result) {
  const std::string place = shown_text(options.to);
  if (!result.complete)
    return place +
           ": stopped before all shards were written; run the same command again to continue";
  std::string text = place + ": ";
  if (result.found == result.plan.shards) {
    text += result.plan.shards == 1
                ? "holds this shard already"
                : fmt::format("holds these {} already", plural(result.plan.shards, "shard"));
  } else {
    text += what_became(result);
  }
  if (result.skipped.samples > 0) {
    text += fmt::format("\n{} left out:", plural(result.skipped.samples, "sample"));
    for (const std::string& one : result.skipped.first) text += "\n  " + one;
  }
  return text +
         fmt::format("\nloaderscope run --data '{}'",
                     shown_text(data_text(*options.writer, options.to, options.compression)));
}

}  // namespace loaderscope::dataset
