#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "augment/emitter.h"
#include "augment/kernels.h"
#include "augment/operation.h"
#include "augment/resample_math.h"
#include "augment/taps.h"
#include "loaderscope/decode.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace augment {
namespace {

// Cuts out, resizes and mirrors: decoded pixels to rows of the sample, one at a time. Each output
// row is first blended from its source rows over the width of the crop, which needs no gathering,
// then resized horizontally: no row is resized twice, and mirroring costs nothing. Memory is kept
// between samples.
class Resampler {
 public:
  Resampler(int size, bool antialias) : size_(size), antialias_(antialias) {}

  // Throws std::logic_error when the pixels lack a part of what the view reads.
  void prepare(const View& view, const Pixels& pixels, bool mirrored);

  // Row y, padded to a multiple of kPad pixels. `pixels` of prepare() must still be valid.
  void make_row(int y, std::uint32_t* out);

 private:
  void find_source(const Pixels& pixels, const Region& held);

  int size_;
  bool antialias_;
  Taps columns_, rows_;
  int fraction_ = 0;                      // binary places of row_
  const std::uint8_t* source_ = nullptr;  // pixel (columns_.read.low, rows_.read.low)
  std::size_t stride_ = 0, values_ = 0;
  std::vector<const std::uint8_t*> blended_;
  std::vector<std::uint8_t> narrow_;
  std::vector<std::int16_t> row_;
};

void Resampler::prepare(const View& view, const Pixels& pixels, bool mirrored) {
  const int d = pixels.scale_denominator;
  const Region& held = pixels.region;
  const AxisMap x = reduced(view.x, d, held.x, held.width);
  const AxisMap y = reduced(view.y, d, held.y, held.height);
  make_taps(x, {size_, antialias_, mirrored}, columns_);
  make_taps(y, {size_, antialias_, false}, rows_);
  fraction_ = row_fraction(columns_.bits);
  check_held(columns_.read, rows_.read, held);
  find_source(pixels, held);
  // A kernel loads two pixels per pair and a little more: up to 8 values beyond the last weight.
  const std::size_t padded = values_ + 6 * static_cast<std::size_t>(columns_.pairs) + kVectorBytes;
  if (row_.size() < padded) row_.resize(padded);
  blended_.resize(2 * static_cast<std::size_t>(rows_.pairs));
}

// Kernels read whole vectors. Where a row is shorter than one, it is copied to where there is room.
void Resampler::find_source(const Pixels& pixels, const Region& held) {
  const auto at = [](int a, int b) { return static_cast<std::size_t>(a - b); };
  source_ =
      pixels.data + at(rows_.read.low, held.y) * pixels.stride + 3 * at(columns_.read.low, held.x);
  stride_ = pixels.stride;
  values_ = 3 * at(columns_.read.high, columns_.read.low);
  if (values_ >= kVectorBytes) return;
  const std::size_t height = at(rows_.read.high, rows_.read.low);
  narrow_.resize(height * kVectorBytes);
  for (std::size_t y = 0; y < height; ++y) {
    std::memcpy(narrow_.data() + y * kVectorBytes, source_ + y * stride_, values_);
  }
  source_ = narrow_.data();
  stride_ = kVectorBytes;
}

void Resampler::make_row(int y, std::uint32_t* out) {
  const int first = rows_.first[static_cast<std::size_t>(y)];
  const int last = rows_.read.high - rows_.read.low - 1;
  for (std::size_t i = 0; i < blended_.size(); ++i) {
    // Beyond the last row only weights of 0 are left.
    const int row = std::min(first + static_cast<int>(i), last);
    blended_[i] = source_ + static_cast<std::size_t>(row) * stride_;
  }
  const std::size_t n = std::max(values_, kVectorBytes);
  if (is_two_rows(rows_.pairs, rows_.bits, fraction_)) {
    const int weight = two_row_weight(rows_.weight(0, y));
    blend_two_rows(blended_[0], blended_[1], weight, n, row_.data());
  } else {
    const RowBlend blend{blended_.data(), rows_.weights.data() + y,
                         rows_.padded,    rows_.pairs,
                         rows_.bits,      fraction_};
    blend_rows(blend, n, row_.data());
  }
  resize_row(row_.data(), columns_, fraction_, out);
}

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
  std::optional<RecipeStep> draw(const Draws& draws, int) const override {
    if (draws.uniform(0) >= flip_.probability) return std::nullopt;
    return RecipeStep{.kind = RecipeStep::Kind::mirror};
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
      if (plan_.normalise) refuse("is after normalise, which must come last");
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
    if (plan_.steps.size() == kMaxRecipeSteps)
      refuse("is one too many: at most " + std::to_string(kMaxRecipeSteps) +
             " may follow the crop");
    plan_.steps.push_back({std::move(operation), number_});
  }
  void add(const Flip& flip) {
    need_crop();
    if (plan_.steps.empty() && !plan_.flip) {
      plan_.flip = {flip, number_};
    } else {
      std::unique_ptr<ImageOperation> mirror = std::make_unique<Mirror>(flip);
      add(mirror);
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
        seed_(options.seed),
        // Without steps on the image, one row is enough.
        image_(options.size, plan_.steps.empty() ? 1 : options.size) {}

  AugmentRecipe choose(std::int64_t epoch, std::int64_t sample,
                       const ImageHeader& header) const override {
    const auto draws = [&](std::uint32_t operation) {
      return Draws{seed_, epoch, sample, operation};
    };
    AugmentRecipe recipe;
    const View view = plan_.crop->choose(header, draws(0));
    const Span x = span_read(view.x, size_), y = span_read(view.y, size_);
    recipe.region = {x.low, y.low, x.high - x.low, y.high - y.low};
    recipe.x = view.x;
    recipe.y = view.y;
    recipe.is_mirrored =
        plan_.flip && draws(plan_.flip->second).uniform(0) < plan_.flip->first.probability;
    for (const Plan::Step& step : plan_.steps) {
      if (const auto drawn = step.operation->draw(draws(step.number), size_))
        recipe.steps.at(recipe.step_count++) = *drawn;
    }
    return recipe;
  }

  void apply(const Pixels& pixels, const AugmentRecipe& recipe, std::byte* place) override {
    resampler_.prepare({recipe.x, recipe.y}, pixels, recipe.is_mirrored);
    if (recipe.step_count == 0) return stream(place);
    for (int y = 0; y < size_; ++y) resampler_.make_row(y, image_.row(y));
    for (std::size_t i = 0; i < recipe.step_count; ++i) follow(recipe.steps.at(i));
    for (int y = 0; y < size_; ++y) emitter_.write_row(image_.row(y), y, place);
  }

 private:
  void stream(std::byte* place) {
    for (int y = 0; y < size_; ++y) {
      resampler_.make_row(y, image_.row(0));
      emitter_.write_row(image_.row(0), y, place);
    }
  }

  void follow(const RecipeStep& step) {
    switch (step.kind) {
      case RecipeStep::Kind::mirror:
        return mirror(image_);
      case RecipeStep::Kind::warp:
        return warp_.apply(image_, step);
      case RecipeStep::Kind::colour:
        return change_colours(image_, step);
    }
  }

  int size_;
  Plan plan_;
  Resampler resampler_;
  Emitter emitter_;
  std::uint64_t seed_;
  Image image_;
  Warp warp_;
};

}  // namespace

void mirror(Image& image) {
  for (int y = 0; y < image.size; ++y) std::reverse(image.row(y), image.row(y) + image.size);
}

Image::Image(int side, int rows)
    : size(side),
      stride(static_cast<std::size_t>(padded(side))),
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
         static_cast<Bytes>(augment::element_bytes(options.transfer));
}

std::string simd_target() { return augment::target_name(); }

}  // namespace loaderscope
