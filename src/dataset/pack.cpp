#include "dataset/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "base/hash.h"
#include "dataset/files.h"
#include "dataset/manifest.h"
#include "dataset/random.h"
#include "dataset/sample_packer.h"

namespace loaderscope::dataset {
namespace {

// Returns the order of all samples. The first of them are packed.
std::vector<std::int64_t> sample_order(std::int64_t samples, const PackOptions& options) {
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

std::int64_t row_group_samples(const PackOptions& options) {
  return options.row_group > 0 ? options.row_group : kUsualRowGroup;
}

PackResult fill(const OpenedData& data, const PackOptions& options, const PackPlan& plan,
                const PackContext& context) {
  const std::vector<std::int64_t> order = sample_order(data.source->size(), options);
  std::mutex mutex;
  std::vector<std::unique_ptr<SamplePacker>> packers;
  ShardFilling filling;
  filling.container = {options.to, plan, options.compression, plan.sides,
                       row_group_samples(options)};
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
  const PackPlan plan = make_pack_plan(data, options);
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

// Plan of the output of packing a data set.

namespace {

constexpr std::int64_t kDrawn = 64;       // samples at most by which the size of all is estimated
constexpr double kPerMember = 512 + 256;  // overhead of tar, the largest: a header, half a block

// Mean bytes of a packed sample, by some of them; 0: none of those can be read.
double bytes_of_sample(const OpenedData& data, const PackOptions& options, ImageSides& sides) {
  const std::vector<std::int64_t> no_order;
  SamplePacker packer(data, options, no_order);
  Random random(0, 0);
  double sum = 0;
  std::int64_t read = 0;
  const std::int64_t drawn = std::min(kDrawn, data.source->size());
  for (std::int64_t i = 0; i < drawn; ++i) {  // one of each stretch of the data
    const double at = (static_cast<double>(i) + random.uniform()) / static_cast<double>(drawn);
    const auto sample = static_cast<std::int64_t>(at * static_cast<double>(data.source->size()));
    try {
      const std::span<const std::byte> packed = packer.pack(sample);
      sum += static_cast<double>(packed.size());
      if (options.writer->takes_pixels && read == 0) sides = image_sides(packed);
      ++read;
    } catch (const SampleError&) {  // packing counts it
    }
  }
  return read > 0 ? sum / static_cast<double>(read) : 0;
}

// Returns the name below the roots of its data, which may be moved.
std::string_view name_below(std::string_view place, const std::vector<std::string>& roots) {
  for (const std::string& root : roots) {
    if (place.starts_with(root)) return place.substr(root.size());
  }
  return place;
}

}  // namespace

PackPlan make_pack_plan(const OpenedData& data, const PackOptions& options) {
  PackPlan plan;
  const Source& source = *data.source;
  plan.samples = source.size();
  const std::vector<std::string> roots = source.stored_objects() != nullptr
                                             ? source.stored_objects()->roots()
                                             : std::vector<std::string>();
  std::int64_t largest = 0;
  bool has_several = false;
  for (std::int64_t sample = 0; sample < plan.samples; ++sample) {
    const std::string place = source.describe(sample);
    for (const char c : name_below(place, roots))
      plan.digest = mixed(plan.digest ^ static_cast<unsigned char>(c));
    const std::int32_t label = data.label(sample);
    plan.digest = mixed(plan.digest, label);
    largest = std::max<std::int64_t>(largest, label);
    has_several = has_several || label != data.label(0);
  }
  plan.classes = has_several ? largest + 1 : 0;
  if (options.most > 0) plan.samples = std::min(plan.samples, options.most);
  const double members = plan.classes > 0 ? 2 : 1;
  plan.bytes = static_cast<double>(plan.samples) *
               (bytes_of_sample(data, options, plan.sides) + members * kPerMember);
  const double shards = std::ceil(plan.bytes / static_cast<double>(options.shard_size));
  plan.shards = std::clamp<std::int64_t>(static_cast<std::int64_t>(shards), 1, plan.samples);
  return plan;
}

}  // namespace loaderscope::dataset
