#include "dataset/fill.h"

#include <fmt/format.h>

#include <atomic>
#include <vector>

#include "base/thread_team.h"
#include "dataset/files.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

struct Counters {
  std::atomic<std::int64_t> next{0}, made{0}, found{0}, bytes{0};
};

// One thread's share: the next image, until there is none.
void make_images(const ShardFill& filling, Counters& counters, const ThreadTeam& team) {
  const std::unique_ptr<ImageMaker> maker = filling.make_maker();
  while (!team.stopping()) {
    const std::int64_t index = counters.next.fetch_add(1);
    if (index >= filling.count) return;
    const std::string path = filling.folder + "/" + filling.sample_path(index);
    if (is_written(path)) {
      counters.found.fetch_add(1);
      continue;
    }
    const std::span<const std::byte> bytes = maker->make(index);
    write_whole(path, bytes);
    counters.bytes.fetch_add(std::ssize(bytes));
    counters.made.fetch_add(1);
  }
}

}  // namespace

MakeResult fill_folder(const ShardFill& filling, const MakeContext& context) {
  Counters counters;
  ThreadTeam team(context.stop_signal);
  const auto show = [&] {
    if (!context.on_progress) return;
    context.on_progress({counters.made + counters.found, filling.count, counters.bytes});
  };
  team.run(
      filling.threads, [&] { make_images(filling, counters, team); }, show);
  MakeResult result;
  result.made = counters.made;
  result.found = counters.found;
  result.bytes = counters.bytes;
  result.complete = result.made + result.found == filling.count;
  return result;
}

namespace {

std::optional<QualityCurve> curve_for(const MakeOptions& options) {
  if (options.format != Format::jpeg) return std::nullopt;
  return QualityCurve(options.subsampling, options.seed);
}

void check_reachable(const MakeOptions& options, const QualityCurve& curve) {
  if (!options.bytes_per_pixel) return;
  // The spread of the images needs some room at both ends.
  const double least = curve.least() * 1.3, most = curve.most() * 0.8;
  if (*options.bytes_per_pixel >= least && *options.bytes_per_pixel <= most) return;
  throw UsageError(
      fmt::format("--bytes-per-pixel {}: JPEG --subsampling {} reaches {:.2f} to {:.2f}",
                  real_to_text(*options.bytes_per_pixel),
                  kSubsamplingNames[static_cast<std::size_t>(options.subsampling)], least, most),
      "give a value between");
}

class Maker final : public ImageMaker {
 public:
  Maker(const MakeOptions& options, const QualityCurve* curve) : options_(options), curve_(curve) {}

  std::span<const std::byte> make(std::int64_t index) override {
    const PlannedImage plan = plan_image(options_, index);
    const RgbImage& image = photographer_.take(plan.subject);
    if (options_.bytes_per_pixel) {
      encode_to_target(image, plan, options_.subsampling, *curve_, bytes_);
    } else {
      const LossySettings settings{options_.quality, options_.subsampling, plan.progressive};
      format_row(options_.format).encode(image, settings, bytes_);
    }
    return bytes_;
  }

 private:
  const MakeOptions& options_;
  const QualityCurve* curve_;
  Photographer photographer_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Making::Making(const MakeOptions& options) : options_(options), curve_(curve_for(options)) {
  if (curve_) check_reachable(options_, *curve_);
}

double Making::bytes() const {
  const double pixels = static_cast<double>(options_.size.width) * options_.size.height *
                        static_cast<double>(options_.count);
  if (!curve_) return options_.format == Format::raw ? pixels * 3 : pixels * 0.1;
  if (options_.bytes_per_pixel) return pixels * *options_.bytes_per_pixel * 0.95;
  return pixels * curve_->bytes_per_pixel(options_.quality) * 0.7;
}

std::unique_ptr<ImageMaker> Making::make_maker() const {
  return std::make_unique<Maker>(options_, curve_ ? &*curve_ : nullptr);
}

}  // namespace loaderscope::dataset
