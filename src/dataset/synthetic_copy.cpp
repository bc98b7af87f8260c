#include "dataset/synthetic_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/hash.h"
#include "dataset/files.h"
#include "dataset/manifest.h"
#include "dataset/photograph.h"
#include "dataset/random.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

// In the order of their names, so that the same data gives the same copy.
std::vector<SeenImage> list_images(const TwinOptions& options, const MakeContext& context) {
  std::vector<SeenImage> images;
  std::mutex mutex;
  InfoContext looking;
  looking.stop_signal = context.stop_signal;
  looking.threads = options.threads;
  looking.on_image = [&](SeenImage image) {
    // Formats without an encoder, such as videos, have no synthetic copy.
    if (image.facts.kind != Kind::unknown && find_encoder(image.facts.kind) == nullptr) return;
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

std::uint64_t images_digest(const std::vector<SeenImage>& images) {
  std::uint64_t digest = 0;
  for (const SeenImage& image : images) {
    const ImageFacts& facts = image.facts;
    for (const std::int64_t fact :
         {static_cast<std::int64_t>(facts.kind), facts.width, facts.height,
          static_cast<std::int64_t>(image_subsampling(facts)), std::int64_t{facts.progressive},
          std::int64_t{facts.quality}, image.size, std::int64_t{image.is_damaged}})
      digest = mixed(digest ^ static_cast<std::uint64_t>(fact));
  }
  return digest;
}

// "class_003": of each group of images, by their order.
std::map<std::string, std::string> copy_folders(const std::vector<SeenImage>& images) {
  std::map<std::string, std::string> folders;
  for (const SeenImage& image : images) folders[image.group];
  std::int64_t number = 0;
  for (auto& [group, folder] : folders) folder = fmt::format("class_{:03}", number++);
  return folders;
}

std::string_view image_suffix(const ImageFacts& facts) {
  return facts.kind == Kind::unknown ? ".jpg" : find_encoder(facts.kind)->suffix();
}

void check(const TwinOptions& options, const std::vector<SeenImage>& images) {
  for (const SeenImage& image : images) {
    if (image.facts.kind == Kind::unknown) continue;
    const FormatRow& row = *find_encoder(image.facts.kind);
    if (const auto reason = row.row.reason_not_available())
      throw RunError(shown_text(options.like) + " has images that cannot be made here: " + *reason);
  }
}

}  // namespace

TwinResult make_twin(const TwinOptions& options, const MakeContext& context) {
  std::vector<SeenImage> images = list_images(options, context);
  TwinResult result;
  if (context.stop_signal != nullptr && context.stop_signal->load() != 0) return result;
  if (options.count) keep(images, *options.count);
  check(options, images);
  result.count = std::ssize(images);
  const MadeFolder folder = made_folder(options, result.count, images_digest(images));
  const FolderState before = state_of_folder(folder);
  double bytes = 0;
  for (const SeenImage& image : images) bytes += static_cast<double>(image.size);
  const FolderInMaking filled(folder, before, bytes, "lower --count");
  const std::map<std::string, std::string> folders = copy_folders(images);
  for (const auto& [group, name] : folders) make_folder(options.path + "/" + name);
  const QualityCurves curves = curves_for(images, options.seed);
  ShardFill filling;
  filling.folder = options.path;
  filling.count = result.count;
  filling.threads = options.threads;
  filling.sample_path = [&](std::int64_t index) {
    const SeenImage& image = images[static_cast<std::size_t>(index)];
    return fmt::format("{}/img_{:07}{}", folders.at(image.group), index, image_suffix(image.facts));
  };
  filling.make_maker = [&] { return make_twin_maker(images, curves, options.seed); };
  static_cast<MakeResult&>(result) = fill_folder(filling, context);
  if (result.complete && before != FolderState::complete) filled.note_complete();
  return result;
}

namespace {

constexpr Bytes kMaxNoise = Bytes{64} << 20;  // limit of a file that is not an image

class SyntheticCopyMaker final : public ImageMaker {
 public:
  SyntheticCopyMaker(const std::vector<SeenImage>& images, const QualityCurves& curves,
                     std::uint64_t seed)
      : images_(images), curves_(curves), seed_(seed) {}

  std::span<const std::byte> make(std::int64_t index) override {
    const SeenImage& image = images_[static_cast<std::size_t>(index)];
    if (image.facts.width <= 0 || image.facts.height <= 0) return noise(index, image.size);
    make_like(image, index);
    // Truncates the copy where the original ends.
    if (image.is_damaged && std::ssize(bytes_) > image.size)
      bytes_.resize(static_cast<std::size_t>(image.size));
    return bytes_;
  }

 private:
  static constexpr double kPerBusyness = 0.2;  // ln bytes, approximate
  static constexpr double kBusiest = 3;
  static constexpr double kNear = 0.05;  // tolerance in ln bytes

  std::span<const std::byte> noise(std::int64_t index, Bytes size) {
    Random random(seed_, static_cast<std::uint64_t>(index));
    bytes_.resize(static_cast<std::size_t>(std::min(size, kMaxNoise)));
    for (std::byte& one : bytes_) one = static_cast<std::byte>(random.bits());
    return bytes_;
  }

  // Estimates the full size of a truncated image, which is unknown.
  static double target_bits(const SeenImage& image) {
    constexpr double kLeft = 0.7;
    return static_cast<double>(image.size) / (image.is_damaged ? kLeft : 1);
  }

  void make_like(const SeenImage& image, std::int64_t index) {
    Subject subject{static_cast<int>(image.facts.width), static_cast<int>(image.facts.height),
                    seed_, static_cast<std::uint64_t>(index), 0};
    const double target = target_bits(image);
    const Format format = static_cast<Format>(image.facts.kind);
    const QualityCurve* curve =
        format == Format::jpeg ? &curves_.at(image_subsampling(image.facts)) : nullptr;
    const LossySettings settings{image.facts.quality > 0 ? image.facts.quality : 80,
                                 image_subsampling(image.facts), image.facts.progressive};
    if (curve != nullptr) {
      const double pixels = static_cast<double>(subject.width) * subject.height;
      subject.busyness =
          busyness_for(std::log(target / pixels / curve->bytes_per_pixel(settings.quality)));
    }
    // Adjusts the amount of detail first, and then the quality if no photograph reaches the size.
    for (int attempt = 0; attempt < 3; ++attempt) {
      format_row(format).encode(photographer_.take(subject), settings, bytes_);
      const double apart = std::log(target / static_cast<double>(bytes_.size()));
      if (std::abs(apart) <= kNear || format == Format::raw) return;
      const double busier = busyness_for(subject.busyness * kPerBusyness + apart);
      if (busier == subject.busyness) break;
      subject.busyness = busier;
    }
    if (curve == nullptr) return;
    PlannedImage plan;
    plan.subject = subject;
    plan.progressive = settings.progressive;
    plan.target_bytes = target;
    plan.dither = 0.5;
    encode_to_target(photographer_.take(subject), plan, settings.subsampling, *curve, bytes_);
  }

  // To 1/1024, so that the last bit of a machine's log() does not matter.
  static double busyness_for(double log_bytes) {
    return std::round(std::clamp(log_bytes / kPerBusyness, -kBusiest, kBusiest) * 1024) / 1024;
  }

  const std::vector<SeenImage>& images_;
  const QualityCurves& curves_;
  std::uint64_t seed_;
  Photographer photographer_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Subsampling image_subsampling(const ImageFacts& facts) {
  if (facts.subsampling == "grey") return Subsampling::grey;
  if (facts.subsampling == "420" || facts.subsampling == "411") return Subsampling::s420;
  if (facts.subsampling == "422" || facts.subsampling == "440") return Subsampling::s422;
  return Subsampling::s444;
}

QualityCurves curves_for(const std::vector<SeenImage>& images, std::uint64_t seed) {
  QualityCurves curves;
  for (const SeenImage& image : images) {
    const Subsampling subsampling = image_subsampling(image.facts);
    if (image.facts.kind == Kind::jpeg && !curves.contains(subsampling))
      curves.emplace(subsampling, QualityCurve(subsampling, seed));
  }
  return curves;
}

std::unique_ptr<ImageMaker> make_twin_maker(const std::vector<SeenImage>& images,
                                            const QualityCurves& curves, std::uint64_t seed) {
  return std::make_unique<SyntheticCopyMaker>(images, curves, seed);
}

}  // namespace loaderscope::dataset
