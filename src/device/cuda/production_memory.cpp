// The begin and the end of a BatchProduction: its memory, its decoder, and the first run of all
// parts.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/cuda/batch_production.h"
#include "device/cuda/make_augment_job.h"

namespace loaderscope::cuda {
namespace {

constexpr Bytes kMinPixelBytes = Bytes{64} << 20, kMaxPixelBytes = Bytes{512} << 20;
static_assert(kMinPixelBytes > kMaxRegionBytes);
constexpr std::size_t kPinnedArena = std::size_t{64} << 20;

std::size_t pixel_buffer_bytes(const MakePlan& plan, std::size_t crop_bytes) {
  const Bytes each = std::max(plan.mean_region_bytes, static_cast<Bytes>(crop_bytes));
  const Bytes wanted = plan.batch * (each + each / 4);
  return static_cast<std::size_t>(std::clamp(wanted, kMinPixelBytes, kMaxPixelBytes));
}

std::string size_text(Bytes bytes) { return format_size(static_cast<double>(bytes)); }

// Returns the back end for the place of the stored bytes. Without engines, it is CUDA's.
nvjpeg::Backend choose_backend(const MakePlan& plan, Nvjpeg& nvjpeg) {
  const bool has_engines = plan.decode == DecodeOn::hw || ask_for_engines(nvjpeg).are_usable();
  if (plan.decodes_resident())
    return has_engines ? nvjpeg::Backend::hardware_device : nvjpeg::Backend::gpu_hybrid_device;
  return has_engines ? nvjpeg::Backend::hardware : nvjpeg::Backend::gpu_hybrid;
}

}  // namespace

BatchProduction::BatchProduction(DeviceGroup& group, const std::string& place, const MakePlan& plan,
                                 std::shared_ptr<Nvjpeg> nvjpeg, const std::atomic<int>& stop)
    : runtime_(group.runtime()),
      stop_(stop),
      objects_(runtime_, place),
      options_(plan.augment),
      batch_(static_cast<std::size_t>(plan.batch)),
      tensor_bytes_(static_cast<std::size_t>(sample_bytes(options_))),
      crop_bytes_(kRgbBytes * static_cast<std::size_t>(options_.size * options_.size)),
      job_(make_augment_job(options_)),
      copy_stream_(objects_.stream()),
      decode_stream_(objects_.stream()),
      work_stream_(objects_.stream()),
      slots_(static_cast<std::size_t>(plan.batches)),
      later_begin_(objects_.event()),
      held_(batch_),
      pixel_places_(batch_),
      crop_copied_(objects_.event()),
      end_(objects_.event()) {
  check_fit(plan);
  take_memory(plan);
  if (plan.decodes()) make_decoder(plan, std::move(nvjpeg), stop);
  warm_up();
}

std::byte* BatchProduction::device_memory(std::size_t bytes, const char* what) {
  memory_ += static_cast<Bytes>(bytes);
  return static_cast<std::byte*>(objects_.memory(bytes, what));
}

// Half of the free memory is left to the model that the real training has.
void BatchProduction::check_fit(const MakePlan& plan) {
  std::size_t free = 0, total = 0;
  check("memory", runtime_.memory_info(free, total));
  const auto limit = static_cast<Bytes>(free / 2);
  const auto slot =
      static_cast<Bytes>(batch_ * (tensor_bytes_ + sizeof(SampleJob))) + plan.slot_bytes;
  const Bytes slots = static_cast<Bytes>(slots_.size()) * slot;
  Bytes others = scratch_bytes(plan.batch, options_.size);
  if (plan.decodes())
    others += static_cast<Bytes>(2 * pixel_buffer_bytes(plan, crop_bytes_) +
                                 suggested_arena_bytes(batch_, plan.width, plan.height));
  const auto data = static_cast<Bytes>(plan.resident.bytes.size());
  if (slots + others + data <= limit) return;
  if (slots + others <= limit)
    throw RunError(
        fmt::format("{}: the data set takes {}, the batches {}, and half of the free memory is {}",
                    objects_.place(), size_text(data), size_text(slots + others), size_text(limit)),
        "give fewer --samples, or leave out --resident");
  throw RunError(
      fmt::format("{}: {} batches need {}, and decoding and augmenting need {}, but half of the "
                  "free memory is {}",
                  objects_.place(), slots_.size(), size_text(slots), size_text(others),
                  size_text(limit)),
      "give a smaller --batch-size or --device-prefetch");
}

void BatchProduction::take_memory(const MakePlan& plan) {
  const std::size_t jobs = batch_ * sizeof(SampleJob);
  crop_ = static_cast<std::byte*>(objects_.host_memory(crop_bytes_, "a replaced sample"));
  replaced_job_ =
      static_cast<SampleJob*>(objects_.host_memory(sizeof(SampleJob), "a replaced sample"));
  for (Slot& slot : slots_) {
    slot.tensors = device_memory(batch_ * tensor_bytes_, "batches made ahead");
    slot.input = device_memory(static_cast<std::size_t>(plan.slot_bytes), "pixels of the workers");
    slot.jobs = reinterpret_cast<SampleJob*>(device_memory(jobs, "tables of batches"));
    slot.host_jobs = static_cast<SampleJob*>(objects_.host_memory(jobs, "tables of batches"));
  }
  const Bytes scratch = scratch_bytes(plan.batch, options_.size);
  job_.scratch = reinterpret_cast<std::uint32_t*>(
      device_memory(static_cast<std::size_t>(scratch), "images between operations"));
  if (!plan.decodes()) return;
  pixel_bytes_ = pixel_buffer_bytes(plan, crop_bytes_);
  for (PixelBuffer& buffer : pixels_) {
    buffer.place = device_memory(pixel_bytes_, "decoded pixels");
    buffer.read = objects_.event();
  }
}

void BatchProduction::keep(const HeldData& data) {
  std::size_t free = 0, total = 0;
  check("data set", runtime_.memory_info(free, total));
  if (data.bytes.size() > free)
    throw RunError(
        fmt::format("{}: the data set takes {}, and {} are free now, because another program took "
                    "memory of the GPU",
                    objects_.place(), size_text(static_cast<Bytes>(data.bytes.size())),
                    size_text(static_cast<Bytes>(free))),
        "end that program, give fewer --samples, or leave out --resident");
  std::byte* const place = device_memory(data.bytes.size(), "the data set");
  check("data set",
        runtime_.copy_to_device(place, data.bytes.data(), data.bytes.size(), copy_stream_));
  check("data set", runtime_.synchronise_device());
  kept_ = place;
  if (decoder_) ask_about(data);
}

// Headers are parsed here, while their bytes are in host memory.
void BatchProduction::ask_about(const HeldData& data) {
  Bytes largest = 0;
  for (std::size_t i = 0; i < data.samples.size(); ++i) {
    const HeldSample& sample = data.samples[i];
    if (!sample.is_held) continue;
    largest = std::max(largest, sample.bytes);
    const auto stored = data.bytes.subspan(static_cast<std::size_t>(sample.offset),
                                           static_cast<std::size_t>(sample.bytes));
    const std::string_view refusal = decoder_->ask(stored, sample.image);
    if (!refusal.empty()) refused_[static_cast<std::int64_t>(i)] = refusal;
  }
  decoder_->reserve_stored(static_cast<std::size_t>(largest));
}

void BatchProduction::make_decoder(const MakePlan& plan, std::shared_ptr<Nvjpeg> nvjpeg,
                                   const std::atomic<int>& stop) {
  JpegDecoderOptions options;
  options.place = objects_.place();
  options.backend = choose_backend(plan, *nvjpeg);
  options.batch = batch_;
  options.width = plan.width;
  options.height = plan.height;
  options.region_bytes = static_cast<std::size_t>(kMaxRegionBytes);
  options.arena_bytes = suggested_arena_bytes(batch_, plan.width, plan.height);
  options.pinned_arena_bytes = kPinnedArena;
  memory_ += static_cast<Bytes>(options.arena_bytes);
  decoder_ = std::make_unique<JpegBatchDecoder>(runtime_, std::move(nvjpeg), make_any_decoder({}),
                                                options, decode_stream_, stop);
}

// Kernels are loaded when they first run, and loading waits for the whole device.
void BatchProduction::warm_up() {
  Slot& slot = slots_.front();
  AugmentRecipe recipe;
  recipe.step_count = 1;
  *slot.host_jobs = make_crop_job(recipe, reinterpret_cast<std::uint8_t*>(slot.input),
                                  kRgbBytes * static_cast<std::size_t>(options_.size));
  check("warm-up", runtime_.fill(slot.input, 0, crop_bytes_));
  check("warm-up",
        runtime_.copy_to_device(slot.jobs, slot.host_jobs, sizeof(SampleJob), work_stream_));
  AugmentJob one = job_;
  one.samples = slot.jobs;
  one.count = 1;
  one.has_steps = true;
  one.out = slot.tensors;
  check("warm-up", runtime_.augment(one, work_stream_));
  check("warm-up", runtime_.synchronise_device());
}

BatchProduction::Marks BatchProduction::take_marks() {
  const std::lock_guard lock(mutex_);
  if (free_marks_.empty())
    return {objects_.event(), objects_.event(), objects_.event(),
            objects_.event(), objects_.event(), objects_.event()};
  const Marks marks = free_marks_.back();
  free_marks_.pop_back();
  return marks;
}

bool BatchProduction::wait_for_end() {
  const WaitLimit limit{nullptr, runtime_.now() + kMaxEndWait};
  for (const Stream stream : {copy_stream_, decode_stream_, work_stream_}) {
    check("end", runtime_.record(end_, stream));
    if (!wait_within(runtime_, objects_, end_, limit)) return false;
  }
  return true;
}

}  // namespace loaderscope::cuda
