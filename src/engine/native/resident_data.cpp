#include "engine/native/resident_data.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/arithmetic.h"
#include "base/sleep.h"
#include "base/thread_team.h"
#include "engine/native/image_refusal.h"
#include "engine/pipeline/resident_load.h"
#include "loaderscope/errors.h"
#include "source/registry.h"

namespace loaderscope::native {

void GrowingBlock::reserve(Bytes most) {
  const auto size = static_cast<std::size_t>(std::max<Bytes>(most, kSlotAlignment));
  void* const place = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED)
    throw RunError(
        "host memory: no room for a data set of " + format_size(static_cast<double>(most)),
        "free some memory, or leave out --resident");
  // Worker processes need none of it, and would keep the memory.
  ::madvise(place, size, MADV_DONTFORK);
  begin_ = static_cast<std::byte*>(place);
  most_ = most;
}

Bytes GrowingBlock::take(Bytes bytes) {
  const Bytes whole = divide_up(bytes, kAlignment) * kAlignment;
  const Bytes offset = used_.fetch_add(whole, std::memory_order_relaxed);
  return offset + whole <= most_ ? offset : -1;
}

std::span<const std::byte> GrowingBlock::used() const {
  return {begin_, static_cast<std::size_t>(std::min(used_.load(), most_))};
}

void GrowingBlock::free() {
  if (begin_ != nullptr)
    ::munmap(begin_, static_cast<std::size_t>(std::max<Bytes>(most_, kSlotAlignment)));
  begin_ = nullptr;
  most_ = 0;
}

namespace {

AugmentOptions kept_options(const DataPipeline& pipeline, std::int64_t side) {
  AugmentOptions options = pipeline.augment;
  options.operations = {"resize-centre-crop:" + std::to_string(side)};
  options.size = static_cast<int>(side);
  options.transfer = Transfer::u8;
  options.layout = Layout::nhwc;
  return options;
}

DecodeOptions kept_decode(const DataPipeline& pipeline, std::int64_t side) {
  DecodeOptions options = pipeline.decode;
  if (side > 0) options.wanted = static_cast<int>(side);
  return options;
}

constexpr std::atomic<int> kNeverStops{0};

[[noreturn]] void refuse_size() {
  throw RunError("host memory: the data set that the GPU is to keep takes more than half of it",
                 "give fewer --samples, or leave out --resident");
}

// Returns the bytes that a sample takes, as far as they are known before it is read.
Bytes expected_bytes(const DataPipeline& pipeline, std::int64_t number) {
  Execution sample;
  sample.draw = sample.count = number;
  if (!pipeline.plan->on_device.holds_sample(sample)) return 0;
  const std::int64_t side = pipeline.plan->config.image.resident.value.side;
  const Bytes bytes =
      side > 0 ? 3 * side * side : source::stored_size(*pipeline.source, number).value_or(0);
  return divide_up(bytes, GrowingBlock::kAlignment) * GrowingBlock::kAlignment;
}

// Refuses a data set before it is read. If it has many samples, some stand for all, and the others
// may be smaller: then readers find out whether the last bytes fit.
void check_expected_size(const DataPipeline& pipeline, std::int64_t count, Bytes most) {
  constexpr std::int64_t kMaxLooks = 10'000;
  constexpr double kSure = 0.9;
  const std::int64_t looks = std::min(count, kMaxLooks);
  double bytes = 0;
  for (std::int64_t i = 0; i < looks; ++i)
    bytes += static_cast<double>(expected_bytes(pipeline, saturated_product(i, count) / looks));
  if (looks < count) bytes *= kSure * static_cast<double>(count) / static_cast<double>(looks);
  if (bytes > static_cast<double>(most)) refuse_size();
}

}  // namespace

// One thread that reads its share of the samples.
class ResidentReader {
 public:
  ResidentReader(ResidentData& data, const DataPipeline& pipeline, const std::atomic<int>& stop)
      : data_(data),
        pipeline_(pipeline),
        side_(pipeline.plan->config.image.resident.value.side),
        reader_(pipeline.source->make_reader()),
        decoder_(make_any_decoder(kept_decode(pipeline, side_))),
        sleeper_(stop) {
    if (side_ > 0) resizer_ = make_augmenter(kept_options(pipeline, side_));
  }

  void add(std::int64_t number) {
    Execution execution;
    execution.draw = execution.count = number;
    if (!pipeline_.plan->on_device.holds_sample(execution)) return;
    try {
      const std::span<const std::byte> stored = reader_->read(number);
      execution.bytes = static_cast<Bytes>(stored.size());
      ResidentData::Sample& sample = data_.samples_[static_cast<std::size_t>(number)];
      if (resizer_)
        keep_image(number, stored, sample);
      else
        keep_stored(stored, sample);
    } catch (const SampleError&) {
      // Each epoch finds it again, and counts it.
    }
    spend_declared(execution);
  }

 private:
  void keep_stored(std::span<const std::byte> stored, ResidentData::Sample& sample) {
    ImageHeader image;
    if (!find_refusal(stored, pipeline_.decode.largest_pixels, image).empty()) return;
    std::byte* const place = take(static_cast<Bytes>(stored.size()), sample);
    std::memcpy(place, stored.data(), stored.size());
    sample.image = image;
    sample.is_held = true;
  }

  void keep_image(std::int64_t number, std::span<const std::byte> stored,
                  ResidentData::Sample& sample) {
    const AugmentRecipe recipe = resizer_->choose(0, number, decoder_->open(stored));
    const Pixels pixels = decoder_->decode(recipe.region);
    const int side = static_cast<int>(side_);
    resizer_->apply(pixels, recipe, take(Bytes{3} * side * side, sample));
    sample.image = {side, side};
    sample.is_held = true;
  }

  std::byte* take(Bytes bytes, ResidentData::Sample& sample) {
    sample.bytes = bytes;
    sample.offset = data_.block_.take(bytes);
    if (sample.offset < 0) refuse_size();
    return data_.block_.at(sample.offset);
  }

  // Declared costs are added to the real work, as in each epoch of other runs.
  void spend_declared(const Execution& execution) {
    for (const StagePlan& stage : pipeline_.plan->sample_stages)
      if (is_loading_stage(stage.stage(), pipeline_.plan->config.image.resident.value.form))
        spend(stage, execution, sleeper_);
  }

  ResidentData& data_;
  const DataPipeline& pipeline_;
  const std::int64_t side_;  // 0: stored bytes are kept
  std::unique_ptr<SampleReader> reader_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Augmenter> resizer_;  // set if images are kept
  Sleeper sleeper_;
};

ResidentData::ResidentData(const DataPipeline& pipeline, const Options& options) {
  const std::int64_t count =
      std::min(pipeline.plan->config.data.samples.value, pipeline.source->size());
  check_expected_size(pipeline, count, options.most_bytes);
  samples_.resize(static_cast<std::size_t>(count));
  block_.reserve(options.most_bytes);
  std::atomic<std::int64_t> next{0};
  ThreadTeam team(options.stop_signal);
  const std::atomic<int>& stop = options.stop_signal ? *options.stop_signal : kNeverStops;
  const auto read = [&] {
    use_exact_sleeps();
    ResidentReader reader(*this, pipeline, stop);
    while (!team.stopping()) {
      const std::int64_t number = next.fetch_add(1);
      if (number >= count) return;
      reader.add(number);
    }
  };
  team.run_concurrently(static_cast<int>(options.readers), read, [] {});
  SourceContext reading;
  reading.stop_signal = options.stop_signal;
  reading.throw_if_stopped();
  for (const Sample& sample : samples_) size_ += sample.is_held ? sample.bytes : 0;
}

}  // namespace loaderscope::native
