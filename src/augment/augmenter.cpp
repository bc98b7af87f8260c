#include <algorithm>
#include <optional>
#include <utility>

#include "augment/emitter.h"
#include "augment/kernels.h"
#include "augment/operation.h"
#include "augment/resampler.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace augment {
namespace {

constexpr int kMaxSize = 2048;

// The list of operations, sorted by what they become.
struct Plan {
  std::unique_ptr<CropRule> crop;
  std::optional<std::pair<Flip, std::uint32_t>>
      flip;  // set if it directly follows the crop: folded into the resize
  struct Step {
    std::unique_ptr<ImageOperation> operation;
    std::uint32_t number;
  };
  std::vector<Step> steps;
  std::optional<Normalise> normalise;
};

class Mirror final : public ImageOperation {
 public:
  explicit Mirror(Flip flip) : flip_(flip) {}
  void apply(Image& image, const Draws& draws) override {
    if (draws.uniform(0) >= flip_.probability) return;
    for (int y = 0; y < image.size; ++y) std::reverse(image.row(y), image.row(y) + image.size);
  }

 private:
  Flip flip_;
};

class Planner {
 public:
  explicit Planner(const AugmentOptions& options) : options_(options) {}

  Plan make() {
    for (const std::string& text : options_.operations) {
      text_ = &text;
      Operation operation = make_operation(text, options_.size);
      if (plan_.normalise) refuse("stands behind normalise, which must come last");
      std::visit([this](auto& kind) { add(kind); }, operation);
      ++number_;
    }
    if (!plan_.crop)
      throw ValueError("expected random-resized-crop or resize-centre-crop as the first operation");
    return std::move(plan_);
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw ValueError("operation '" + shown_text(*text_) + "' " + std::string(why));
  }
  void need_crop() const {
    if (plan_.crop) return;
    refuse(
        "comes before a crop; the first operation must be random-resized-crop or "
        "resize-centre-crop");
  }

  void add(std::unique_ptr<CropRule>& crop) {
    if (plan_.crop) refuse("is a second crop; only the first operation may be one");
    need_first();
    plan_.crop = std::move(crop);
  }
  void need_first() const {
    if (number_ != 0) refuse("must be the first operation");
  }
  void add(std::unique_ptr<ImageOperation>& operation) {
    need_crop();
    plan_.steps.push_back({std::move(operation), number_});
  }
  void add(const Flip& flip) {
    need_crop();
    if (plan_.steps.empty() && !plan_.flip) {
      plan_.flip = {flip, number_};
    } else {
      plan_.steps.push_back({std::make_unique<Mirror>(flip), number_});
    }
  }
  void add(const Normalise& normalise) {
    need_crop();
    if (options_.transfer == Transfer::u8) {
      refuse("makes values that u8 cannot hold; leave it out, or use f16 or f32");
    }
    plan_.normalise = normalise;
  }

  const AugmentOptions& options_;
  const std::string* text_ = nullptr;
  std::uint32_t number_ = 0;
  Plan plan_;
};

class NativeAugmenter final : public Augmenter {
 public:
  NativeAugmenter(const AugmentOptions& options, Plan plan)
      : size_(options.size),
        plan_(std::move(plan)),
        resampler_(options.size, options.antialias),
        emitter_(options, plan_.normalise.value_or(Normalise{})),
        draws_{options.seed},
        // Without steps on the image, one row is enough.
        image_(options.size, plan_.steps.empty() ? 1 : options.size) {}

  Region choose(std::int64_t epoch, std::int64_t sample, const ImageHeader& header) override {
    draws_.epoch = epoch;
    draws_.sample = sample;
    view_ = plan_.crop->choose(header, draws_of(0));
    const Span x = span_read(view_.x, size_), y = span_read(view_.y, size_);
    return {x.low, y.low, x.high - x.low, y.high - y.low};
  }

  void apply(const Pixels& pixels, std::byte* place) override {
    const bool mirrored =
        plan_.flip && draws_of(plan_.flip->second).uniform(0) < plan_.flip->first.probability;
    resampler_.prepare(view_, pixels, mirrored);
    if (plan_.steps.empty()) return stream(place);
    for (int y = 0; y < size_; ++y) resampler_.make_row(y, image_.row(y));
    for (const Plan::Step& step : plan_.steps) step.operation->apply(image_, draws_of(step.number));
    for (int y = 0; y < size_; ++y) emitter_.write_row(image_.row(y), y, place);
  }

 private:
  void stream(std::byte* place) {
    for (int y = 0; y < size_; ++y) {
      resampler_.make_row(y, image_.row(0));
      emitter_.write_row(image_.row(0), y, place);
    }
  }

  Draws draws_of(std::uint32_t operation) const {
    Draws draws = draws_;
    draws.operation = operation;
    return draws;
  }

  int size_;
  Plan plan_;
  Resampler resampler_;
  Emitter emitter_;
  Draws draws_;
  Image image_;
  View view_;
};

}  // namespace

Image::Image(int side, int rows)
    : size(side),
      stride((static_cast<std::size_t>(side) + kPad - 1) / kPad * kPad),
      pixels(stride * static_cast<std::size_t>(rows)) {}

}  // namespace augment

std::unique_ptr<Augmenter> make_augmenter(const AugmentOptions& options) {
  if (options.size < 1 || options.size > augment::kMaxSize) {
    throw ValueError("expected a size of 1 to " + std::to_string(augment::kMaxSize) +
                     " pixels, not " + std::to_string(options.size));
  }
  return std::make_unique<augment::NativeAugmenter>(options, augment::Planner(options).make());
}

Bytes sample_bytes(const AugmentOptions& options) {
  return Bytes{3} * options.size * options.size *
         static_cast<Bytes>(augment::bytes_of(options.transfer));
}

std::string simd_target() { return augment::target_name(); }

}  // namespace loaderscope
