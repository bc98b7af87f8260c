#include "dataset/synthetic_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "base/hash.h"
#include "dataset/files.h"
#include "dataset/fill.h"
#include "dataset/manifest.h"
#include "dataset/synthetic_image.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

// In the order of their names, so that the same data gives the same copy.
std::vector<SeenImage> images_of(const TwinOptions& options, const MakeContext& context) {
  std::vector<SeenImage> images;
  std::mutex mutex;
  InfoContext looking;
  looking.stop_signal = context.stop_signal;
  looking.threads = options.threads;
  looking.on_image = [&](SeenImage image) {
    // Formats without an encoder, such as videos, have no synthetic copy.
    if (image.facts.kind != Kind::unknown && encoder_of(image.facts.kind) == nullptr) return;
    const std::lock_guard lock(mutex);
    images.push_back(std::move(image));
  };
  inspect_dataset(options.like, looking);
  std::sort(images.begin(), images.end(),
            [](const SeenImage& a, const SeenImage& b) { return a.name < b.name; });
  if (images.empty() && (context.stop_signal == nullptr || context.stop_signal->load() == 0))
    throw RunError(shown_text(options.like) + ": has no image to make a synthetic copy of");
  return images;
}

// Spread over all of them.
void keep(std::vector<SeenImage>& images, std::int64_t count) {
  const std::int64_t all = std::ssize(images);
  for (std::int64_t i = 0; i < std::min(count, all); ++i)
    std::swap(images[static_cast<std::size_t>(i)],
              images[static_cast<std::size_t>(i * all / std::min(count, all))]);
  images.resize(static_cast<std::size_t>(std::min(count, all)));
}

std::uint64_t digest_of(const std::vector<SeenImage>& images) {
  std::uint64_t digest = 0;
  for (const SeenImage& image : images) {
    const ImageFacts& facts = image.facts;
    for (const std::int64_t fact :
         {static_cast<std::int64_t>(facts.kind), facts.width, facts.height,
          static_cast<std::int64_t>(subsampling_of(facts)), std::int64_t{facts.progressive},
          std::int64_t{facts.quality}, image.size, std::int64_t{image.is_damaged}})
      digest = mixed(digest ^ static_cast<std::uint64_t>(fact));
  }
  return digest;
}

// "class_003": of each group of images, by their order.
std::map<std::string, std::string> folders_of(const std::vector<SeenImage>& images) {
  std::map<std::string, std::string> folders;
  for (const SeenImage& image : images) folders[image.group];
  std::int64_t number = 0;
  for (auto& [group, folder] : folders) folder = fmt::format("class_{:03}", number++);
  return folders;
}

std::string_view suffix_of(const ImageFacts& facts) {
  return facts.kind == Kind::unknown ? ".jpg" : encoder_of(facts.kind)->suffix();
}

void check(const TwinOptions& options, const std::vector<SeenImage>& images) {
  for (const SeenImage& image : images) {
    if (image.facts.kind == Kind::unknown) continue;
    const FormatRow& row = *encoder_of(image.facts.kind);
    if (const auto reason = row.row.reason_not_available())
      throw RunError(shown_text(options.like) + " has images that cannot be made here: " + *reason);
  }
}

}  // namespace

TwinResult make_twin(const TwinOptions& options, const MakeContext& context) {
  std::vector<SeenImage> images = images_of(options, context);
  TwinResult result;
  if (context.stop_signal != nullptr && context.stop_signal->load() != 0) return result;
  if (options.count) keep(images, *options.count);
  check(options, images);
  result.count = std::ssize(images);
  const MadeFolder folder = made_folder(options, result.count, digest_of(images));
  const FolderState before = state_of_folder(folder);
  double bytes = 0;
  for (const SeenImage& image : images) bytes += static_cast<double>(image.size);
  const FolderInMaking filled(folder, before, bytes, "lower --count");
  const std::map<std::string, std::string> folders = folders_of(images);
  for (const auto& [group, name] : folders) make_folder(options.path + "/" + name);
  const QualityCurves curves = curves_for(images, options.seed);
  ShardFill filling;
  filling.folder = options.path;
  filling.count = result.count;
  filling.threads = options.threads;
  filling.path_of = [&](std::int64_t index) {
    const SeenImage& image = images[static_cast<std::size_t>(index)];
    return fmt::format("{}/img_{:07}{}", folders.at(image.group), index, suffix_of(image.facts));
  };
  filling.make_maker = [&] { return make_twin_maker(images, curves, options.seed); };
  static_cast<MakeResult&>(result) = fill_folder(filling, context);
  if (result.complete && before != FolderState::complete) filled.note_complete();
  return result;
}

}  // namespace loaderscope::dataset
