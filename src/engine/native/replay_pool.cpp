#include "engine/native/replay_pool.h"

#include <algorithm>
#include <cstring>

#include "loaderscope/cost.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

// Stored bytes are quickly read, and their sizes differ much; making samples takes longer.
constexpr std::int64_t kMaxStored = 1024;
constexpr std::int64_t kMaxMade = 128;

// One worker's things, before there are workers.
class PoolMaker {
 public:
  PoolMaker(const ReplaySource& from, const Knockouts& knockouts)
      : reader_(from.source.make_reader()),
        decoder_(make_any_decoder(from.decode)),
        augmenter_(make_augmenter(from.augment)),
        sample_bytes_(sample_bytes(from.augment)),
        keeps_pixels_(is_image(from) && knockouts.has(Stage::decode) &&
                      !knockouts.has(Stage::augment)),
        keeps_stored_(knockouts.has(Stage::read) &&
                      !(is_image(from) && knockouts.has(Stage::decode))),
        finishes_(is_image(from) && knockouts.has(Stage::augment)) {}

  bool keeps_samples() const { return keeps_pixels_ || keeps_stored_; }
  std::int64_t most() const { return keeps_pixels_ || finishes_ ? kMaxMade : kMaxStored; }

  // Throws SampleError.
  ReplayPool::Sample make(std::int64_t index, std::vector<std::byte>& finished) {
    ReplayPool::Sample sample;
    sample.index = index;
    const std::span<const std::byte> stored = reader_->read(index);
    if (keeps_stored_) sample.stored.assign(stored.begin(), stored.end());
    if (!keeps_pixels_ && !finishes_) return sample;
    sample.recipe = augmenter_->choose(ReplayPool::kEpoch, index, decoder_->open(stored));
    const Pixels pixels = decoder_->decode(sample.recipe.region);
    if (keeps_pixels_) keep(pixels, sample);
    if (finishes_) finish(pixels, sample.recipe, finished);
    return sample;
  }

 private:
  static bool is_image(const ReplaySource& from) { return from.form == SampleForm::image; }

  static void keep(const Pixels& pixels, ReplayPool::Sample& sample) {
    const std::size_t row = 3 * static_cast<std::size_t>(pixels.region.width);
    const auto rows = static_cast<std::size_t>(pixels.region.height);
    sample.rgb.resize(row * rows);
    for (std::size_t y = 0; y < rows; ++y)
      std::memcpy(sample.rgb.data() + y * row, pixels.data + y * pixels.stride, row);
    sample.pixels = pixels;
    sample.pixels.stride = row;
    sample.pixels.data = sample.rgb.data();
  }

  void finish(const Pixels& pixels, const AugmentRecipe& recipe, std::vector<std::byte>& finished) {
    const std::size_t at = finished.size();
    finished.resize(at + static_cast<std::size_t>(sample_bytes_));
    augmenter_->apply(pixels, recipe, finished.data() + at);
  }

  std::unique_ptr<SampleReader> reader_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Augmenter> augmenter_;
  Bytes sample_bytes_;
  bool keeps_pixels_, keeps_stored_, finishes_;
};

}  // namespace

RunError none_usable(const Source& source, const std::string& first) {
  const Extents* extents = source.extents();
  const bool are_files = extents != nullptr && extents->extent(0).length == Extent::kToEnd;
  return RunError("none of the " + std::to_string(source.size()) +
                      " samples can be used, the first because of this: " + first,
                  are_files ? "'loaderscope data info --check' looks at all of a folder" : "");
}

ReplayPool::ReplayPool(const ReplaySource& from, const Knockouts& knockouts, std::uint64_t seed,
                       Bytes most_bytes, const SourceContext& context) {
  PoolMaker maker(from, knockouts);
  const std::int64_t size = from.source.size();
  std::string first_error;
  for (std::int64_t i = 0; i < size && kept_ < maker.most() && (kept_ == 0 || bytes_ < most_bytes);
       ++i) {
    context.throw_if_stopped();
    const std::int64_t index = shuffled_index(i, size, seed, -3);
    try {
      const Bytes finished_before = std::ssize(finished_);
      Sample sample = maker.make(index, finished_);
      bytes_ += sample.bytes() + std::ssize(finished_) - finished_before;
      if (maker.keeps_samples()) samples_.push_back(std::move(sample));
      ++kept_;
    } catch (const SampleError& error) {  // the run will name it
      if (first_error.empty()) first_error = from.source.describe(index) + ": " + error.what();
    }
  }
  if (kept_ == 0) {
    throw none_usable(from.source, first_error);
  }
}

void ReplayPool::fill(std::span<std::byte> slot) const {
  for (std::size_t at = 0; at < slot.size(); at += finished_.size()) {
    std::memcpy(slot.data() + at, finished_.data(), std::min(finished_.size(), slot.size() - at));
  }
}

}  // namespace loaderscope::native
