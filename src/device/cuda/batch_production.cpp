#include "device/cuda/batch_production.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/cuda/make_augment_job.h"

namespace loaderscope::cuda {
namespace {

constexpr Bytes kMinPixelBytes = Bytes{64} << 20, kMaxPixelBytes = Bytes{512} << 20;
static_assert(kMinPixelBytes > kMaxRegionBytes);
constexpr std::size_t kPinnedArena = std::size_t{64} << 20;
constexpr std::size_t kPixelAlignment = 256;
constexpr std::size_t kRgb = 3;

std::size_t aligned_pixels(std::size_t bytes) {
  return (bytes + kPixelAlignment - 1) / kPixelAlignment * kPixelAlignment;
}

std::size_t row_bytes(const Region& region) {
  return kRgb * static_cast<std::size_t>(region.width);
}

std::size_t pixel_buffer_bytes(const MakePlan& plan, std::size_t crop_bytes) {
  const Bytes each = std::max(plan.mean_region_bytes, static_cast<Bytes>(crop_bytes));
  const Bytes wanted = plan.batch * (each + each / 4);
  return static_cast<std::size_t>(std::clamp(wanted, kMinPixelBytes, kMaxPixelBytes));
}

bool has_jpeg_engines(Nvjpeg& nvjpeg) {
  nvjpeg::Handle handle = nullptr;
  if (nvjpeg.make_handle(nvjpeg::Backend::hardware, nullptr, nullptr, handle) !=
      nvjpeg::Code::success)
    return false;
  nvjpeg.free_handle(handle);
  return true;
}

const SampleEntry* table(const MakeJob& job) {
  return reinterpret_cast<const SampleEntry*>(job.slot);
}

}  // namespace

BatchProduction::BatchProduction(DeviceGroup& group, const std::string& place,
                                 const RunConfig& config, const MakePlan& plan,
                                 std::shared_ptr<Nvjpeg> nvjpeg, const std::atomic<int>& stop)
    : runtime_(group.runtime()),
      objects_(runtime_, place),
      options_(plan.augment),
      batch_(static_cast<std::size_t>(plan.batch)),
      tensor_bytes_(static_cast<std::size_t>(sample_bytes(options_))),
      crop_bytes_(kRgb * static_cast<std::size_t>(options_.size * options_.size)),
      job_(make_augment_job(options_)),
      copy_stream_(objects_.stream()),
      decode_stream_(objects_.stream()),
      work_stream_(objects_.stream()),
      slots_(static_cast<std::size_t>(config.trainer.device_prefetch + config.trainer.in_flight)),
      later_begin_(objects_.event()),
      pixel_places_(batch_),
      crop_copied_(objects_.event()),
      end_(objects_.event()) {
  check_fit(config, plan);
  take_memory(plan);
  if (plan.decodes) make_decoder(config, plan, std::move(nvjpeg), stop);
  warm_up();
}

std::byte* BatchProduction::device_memory(std::size_t bytes, const char* what) {
  memory_ += static_cast<Bytes>(bytes);
  return static_cast<std::byte*>(objects_.memory(bytes, what));
}

// Half of the free memory is left to the model that the real training has.
void BatchProduction::check_fit(const RunConfig& config, const MakePlan& plan) const {
  std::size_t free = 0, total = 0;
  check("memory", runtime_.memory_info(free, total));
  const auto slot =
      static_cast<Bytes>(batch_ * (tensor_bytes_ + sizeof(SampleJob))) + plan.slot_bytes;
  const Bytes slots = static_cast<Bytes>(slots_.size()) * slot;
  Bytes others = scratch_bytes(plan.batch, options_.size);
  if (plan.decodes)
    others += static_cast<Bytes>(2 * pixel_buffer_bytes(plan, crop_bytes_) +
                                 suggested_arena_bytes(batch_, plan.width, plan.height));
  if (slots + others <= static_cast<Bytes>(free / 2)) return;
  const auto text = [](Bytes bytes) { return format_size(static_cast<double>(bytes)); };
  throw RunError(
      fmt::format("{}: {} batches take {}, their decoded images {}, and half of the free memory is "
                  "{}",
                  objects_.place(), slots_.size(), text(slots), text(others),
                  text(static_cast<Bytes>(free / 2))),
      config.trainer.device_prefetch > 1 ? "give a smaller --batch-size or --device-prefetch"
                                         : "give a smaller --batch-size");
}

void BatchProduction::take_memory(const MakePlan& plan) {
  const std::size_t jobs = batch_ * sizeof(SampleJob);
  crop_ = static_cast<std::byte*>(objects_.host_memory(crop_bytes_, "a replaced sample"));
  for (Slot& slot : slots_) {
    slot.tensors = device_memory(batch_ * tensor_bytes_, "batches made ahead");
    slot.input = device_memory(static_cast<std::size_t>(plan.slot_bytes), "pixels of the workers");
    slot.jobs = reinterpret_cast<SampleJob*>(device_memory(jobs, "tables of batches"));
    slot.host_jobs = static_cast<SampleJob*>(objects_.host_memory(jobs, "tables of batches"));
  }
  const Bytes scratch = scratch_bytes(plan.batch, options_.size);
  job_.scratch = reinterpret_cast<std::uint32_t*>(
      device_memory(static_cast<std::size_t>(scratch), "images between operations"));
  if (!plan.decodes) return;
  pixel_bytes_ = pixel_buffer_bytes(plan, crop_bytes_);
  for (PixelBuffer& buffer : pixels_) {
    buffer.place = device_memory(pixel_bytes_, "decoded pixels");
    buffer.read = objects_.event();
  }
}

void BatchProduction::make_decoder(const RunConfig& config, const MakePlan& plan,
                                   std::shared_ptr<Nvjpeg> nvjpeg, const std::atomic<int>& stop) {
  JpegDecoderOptions options;
  options.place = objects_.place();
  const bool may_use_cuda = config.image.decode.value.on == DecodeOn::gpu;
  options.backend = may_use_cuda && !has_jpeg_engines(*nvjpeg) ? nvjpeg::Backend::gpu_hybrid
                                                               : nvjpeg::Backend::hardware;
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
                                  kRgb * static_cast<std::size_t>(options_.size));
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

bool BatchProduction::make(const MakeJob& job) {
  Slot& slot = slots_[made_++ % slots_.size()];
  MadeBatch batch;
  batch.marks = take_marks();
  place_samples(job, slot);
  copy_input(job, slot, batch.marks);
  for (const Part& part : parts_) {
    if (!decode_part(job, part, slot, batch)) return false;
    if (part.first == 0) check("augment", runtime_.record(batch.marks.augment_begin, work_stream_));
    augment_part(part, slot);
  }
  check("augment", runtime_.record(batch.marks.augment_end, work_stream_));
  const std::lock_guard lock(mutex_);
  batches_.push_back(batch);
  return true;
}

// Fills the kernel's table, and divides the batch where decoded pixels need the other buffer.
void BatchProduction::place_samples(const MakeJob& job, Slot& slot) {
  parts_ = {{0, 0, next_buffer_}};
  std::size_t used = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(job.samples); ++i) {
    const SampleEntry& entry = table(job)[i];
    const auto* input = reinterpret_cast<const std::uint8_t*>(slot.input + entry.offset);
    SampleJob& sample = slot.host_jobs[i];
    switch (entry.kind) {
      case SampleEntry::Kind::crop:
        sample = make_crop_job(entry.recipe, input, row_bytes(entry.held));
        break;
      case SampleEntry::Kind::pixels:
        sample =
            make_sample_job(options_, entry.recipe,
                            {input, row_bytes(entry.held), entry.held, entry.scale_denominator});
        break;
      case SampleEntry::Kind::stored:
        sample =
            make_sample_job(options_, entry.recipe,
                            {reinterpret_cast<const std::uint8_t*>(place_pixels(i, entry, used)),
                             row_bytes(entry.held), entry.held});
        break;
    }
    ++parts_.back().count;
  }
  next_buffer_ = (parts_.back().buffer + 1) % pixels_.size();
}

// Returns the place on the device for the pixels of a sample. It also has room for its crop, in
// case that the sample must be replaced.
std::byte* BatchProduction::place_pixels(std::size_t sample, const SampleEntry& entry,
                                         std::size_t& used) {
  const std::size_t region = row_bytes(entry.held) * static_cast<std::size_t>(entry.held.height);
  const std::size_t bytes = aligned_pixels(std::max(region, crop_bytes_));
  if (used + bytes > pixel_bytes_) {
    const Part& full = parts_.back();
    parts_.push_back({full.first + full.count, 0, (full.buffer + 1) % pixels_.size()});
    used = 0;
  }
  pixel_places_[sample] = pixels_[parts_.back().buffer].place + used;
  used += bytes;
  return pixel_places_[sample];
}

// Copies the pixels and crops of the workers, and the table. The decoder copies stored bytes.
void BatchProduction::copy_input(const MakeJob& job, const Slot& slot, const Marks& marks) {
  const auto count = static_cast<std::size_t>(job.samples);
  check("copy", runtime_.record(marks.copy_begin, copy_stream_));
  for (std::size_t i = 0; i < count; ++i) {
    const SampleEntry& entry = table(job)[i];
    if (entry.kind == SampleEntry::Kind::stored) continue;
    check("copy", runtime_.copy_to_device(slot.input + entry.offset, job.slot + entry.offset,
                                          static_cast<std::size_t>(entry.bytes), copy_stream_));
  }
  check("copy", runtime_.copy_to_device(slot.jobs, slot.host_jobs, count * sizeof(SampleJob),
                                        copy_stream_));
  check("copy", runtime_.record(marks.copy_end, copy_stream_));
  check("copy", runtime_.wait_event(work_stream_, marks.copy_end));
}

bool BatchProduction::decode_part(const MakeJob& job, const Part& part, Slot& slot,
                                  MadeBatch& batch) {
  tasks_.clear();
  task_samples_.clear();
  for (std::size_t i = part.first; i < part.first + part.count; ++i) {
    const SampleEntry& entry = table(job)[i];
    if (entry.kind != SampleEntry::Kind::stored) continue;
    tasks_.push_back({{job.slot + entry.offset, static_cast<std::size_t>(entry.bytes)},
                      entry.held,
                      pixel_places_[i],
                      row_bytes(entry.held)});
    task_samples_.push_back(i);
  }
  if (tasks_.empty()) return true;
  PixelBuffer& buffer = pixels_[part.buffer];
  if (buffer.is_used) check("decode", runtime_.wait_event(decode_stream_, buffer.read));
  outcomes_.assign(tasks_.size(), {});
  const Event begin = batch.decodes ? later_begin_ : batch.marks.decode_begin;
  if (!decoder_->decode(tasks_, begin, batch.marks.decode_end, outcomes_)) return false;
  batch.decodes = true;
  if (std::any_of(outcomes_.begin(), outcomes_.end(),
                  [](const JpegOutcome& outcome) { return outcome.error.has_value(); })) {
    check("decode", runtime_.wait_event(decode_stream_, batch.marks.copy_end));
    settle_outcomes(job, slot);
    check("decode", runtime_.record(batch.marks.decode_end, decode_stream_));
  } else {
    settle_outcomes(job, slot);
  }
  buffer.is_used = true;
  check("decode", runtime_.wait_event(work_stream_, batch.marks.decode_end));
  return true;
}

void BatchProduction::settle_outcomes(const MakeJob& job, Slot& slot) {
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const JpegOutcome& outcome = outcomes_[i];
    if (outcome.error) {
      replace(job, task_samples_[i], *outcome.error, slot);
    } else if (outcome.way == JpegOutcome::Way::cuda) {
      job.listener->decoded(MakeListener::Way::cuda, "");
    } else if (outcome.way == JpegOutcome::Way::cpu) {
      job.listener->decoded(MakeListener::Way::cpu, outcome.reason);
    }
  }
}

// After the table was copied, in the decode stream.
void BatchProduction::replace(const MakeJob& job, std::size_t sample, const SampleError& error,
                              Slot& slot) {
  const AugmentRecipe recipe = job.listener->replace(table(job)[sample], error, crop_);
  std::byte* const place = pixel_places_[sample];
  check("replace", runtime_.copy_to_device(place, crop_, crop_bytes_, decode_stream_));
  slot.host_jobs[sample] = make_crop_job(recipe, reinterpret_cast<const std::uint8_t*>(place),
                                         kRgb * static_cast<std::size_t>(options_.size));
  check("replace", runtime_.copy_to_device(slot.jobs + sample, slot.host_jobs + sample,
                                           sizeof(SampleJob), decode_stream_));
  check("replace", runtime_.record(crop_copied_, decode_stream_));
  check("replace", runtime_.synchronise(crop_copied_));  // `crop_` is free again
}

void BatchProduction::augment_part(const Part& part, const Slot& slot) {
  AugmentJob job = job_;
  job.samples = slot.jobs + part.first;
  job.count = static_cast<std::int32_t>(part.count);
  job.has_steps = std::any_of(slot.host_jobs + part.first, slot.host_jobs + part.first + part.count,
                              [](const SampleJob& one) { return one.step_count > 0; });
  job.out = slot.tensors + part.first * tensor_bytes_;
  check("augment", runtime_.augment(job, work_stream_));
  PixelBuffer& buffer = pixels_[part.buffer];
  if (buffer.is_used) check("augment", runtime_.record(buffer.read, work_stream_));
}

bool BatchProduction::wait_for_end() {
  const WaitLimit limit{nullptr, runtime_.now() + kMaxEndWait};
  for (const Stream stream : {copy_stream_, decode_stream_, work_stream_}) {
    check("end", runtime_.record(end_, stream));
    if (!wait_within(runtime_, objects_, end_, limit)) return false;
  }
  return true;
}

Event BatchProduction::next_end() {
  const std::lock_guard lock(mutex_);
  return batches_[ordered_++].marks.augment_end;
}

std::array<Interval, kMaxDeviceWork> BatchProduction::take_times(const DeviceClock& clock) {
  MadeBatch batch;
  {
    const std::lock_guard lock(mutex_);
    batch = batches_.front();
    batches_.pop_front();
    --ordered_;
  }
  const auto between = [&](Event begin, Event end) {
    const Nanos from = clock.event_time(begin);
    return Interval{from, std::max(from, clock.event_time(end)), 0, 0};
  };
  std::array<Interval, kMaxDeviceWork> times{};
  std::size_t count = 0;
  const Marks& marks = batch.marks;
  times[count++] = between(marks.copy_begin, marks.copy_end);
  if (batch.decodes) times[count++] = between(marks.decode_begin, marks.decode_end);
  times[count++] = between(marks.augment_begin, marks.augment_end);
  const std::lock_guard lock(mutex_);
  free_marks_.push_back(batch.marks);
  return times;
}

}  // namespace loaderscope::cuda
