#include "device/cuda/batch_production.h"

#include <algorithm>

#include "device/cuda/make_augment_job.h"

namespace loaderscope::cuda {
namespace {

constexpr std::size_t kPixelAlignment = 256;

std::size_t aligned_pixels(std::size_t bytes) {
  return (bytes + kPixelAlignment - 1) / kPixelAlignment * kPixelAlignment;
}

std::size_t row_bytes(const Region& region) {
  return kRgbBytes * static_cast<std::size_t>(region.width);
}

const SampleEntry* table(const MakeJob& job) {
  return reinterpret_cast<const SampleEntry*>(job.slot);
}

}  // namespace

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
    const auto* input = reinterpret_cast<const std::uint8_t*>(device_bytes(entry, slot));
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
      case SampleEntry::Kind::stored: {
        held_[i] = region_to_decode(entry);
        const std::byte* const place = place_pixels(i, used);
        sample = make_sample_job(
            options_, entry.recipe,
            {reinterpret_cast<const std::uint8_t*>(place), row_bytes(held_[i]), held_[i]});
        break;
      }
    }
    ++parts_.back().count;
  }
  next_buffer_ = (parts_.back().buffer + 1) % pixels_.size();
}

// Some back ends decode whole images only. An image that is too large for that goes to the host.
Region BatchProduction::region_to_decode(const SampleEntry& entry) const {
  if (decoder_->takes_regions()) return entry.held;
  const Region whole{0, 0, entry.image.width, entry.image.height};
  const auto bytes = static_cast<Bytes>(row_bytes(whole)) * whole.height;
  return bytes <= kMaxRegionBytes ? whole : entry.held;
}

// Returns the place on the device for the pixels of a sample. It also has room for its crop, in
// case that the sample must be replaced.
std::byte* BatchProduction::place_pixels(std::size_t sample, std::size_t& used) {
  const Region& held = held_[sample];
  const std::size_t region = row_bytes(held) * static_cast<std::size_t>(held.height);
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
    if (entry.kind == SampleEntry::Kind::stored || entry.is_held) continue;
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
    if (table(job)[i].kind != SampleEntry::Kind::stored) continue;
    tasks_.push_back(decode_task(job, i, slot));
    task_samples_.push_back(i);
  }
  if (tasks_.empty()) return true;
  PixelBuffer& buffer = pixels_[part.buffer];
  if (buffer.is_used) check("decode", runtime_.wait_event(decode_stream_, buffer.read));
  outcomes_.assign(tasks_.size(), {});
  const Event begin = batch.decodes ? later_begin_ : batch.marks.decode_begin;
  if (!decoder_->decode(tasks_, begin, batch.marks.decode_end, outcomes_)) return false;
  batch.decodes = true;
  if (!settle_outcomes(job, slot, batch.marks)) return false;
  buffer.is_used = true;
  check("decode", runtime_.wait_event(work_stream_, batch.marks.decode_end));
  return true;
}

JpegTask BatchProduction::decode_task(const MakeJob& job, std::size_t sample,
                                      const Slot& slot) const {
  const SampleEntry& entry = table(job)[sample];
  const std::byte* const stored =
      entry.is_held ? device_bytes(entry, slot) : job.slot + entry.offset;
  JpegTask task;
  task.stored = {stored, static_cast<std::size_t>(entry.bytes)};
  task.is_kept = entry.is_held;
  if (const auto refused = refused_.find(entry.sample); entry.is_held && refused != refused_.end())
    task.refusal = refused->second;
  task.image = entry.image;
  task.region = held_[sample];
  task.to = pixel_places_[sample];
  task.stride = row_bytes(held_[sample]);
  return task;
}

bool BatchProduction::settle_outcomes(const MakeJob& job, Slot& slot, const Marks& marks) {
  bool has_replaced = false;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const JpegOutcome& outcome = outcomes_[i];
    if (outcome.error) {
      // Replacements write to the table, after it was copied.
      if (!has_replaced) check("replace", runtime_.wait_event(decode_stream_, marks.copy_end));
      has_replaced = true;
      if (!replace(job, task_samples_[i], *outcome.error, slot)) return false;
    } else if (outcome.way == JpegOutcome::Way::cuda) {
      job.listener->decoded(MakeListener::Way::cuda, "");
    } else if (outcome.way == JpegOutcome::Way::cpu) {
      job.listener->decoded(MakeListener::Way::cpu, outcome.reason);
    }
  }
  if (has_replaced) check("replace", runtime_.record(marks.decode_end, decode_stream_));
  return true;
}

// Submits to the decode stream. False: the run must stop.
bool BatchProduction::replace(const MakeJob& job, std::size_t sample, const SampleError& error,
                              Slot& slot) {
  const AugmentRecipe recipe = job.listener->replace(table(job)[sample], error, crop_);
  std::byte* const place = pixel_places_[sample];
  check("replace", runtime_.copy_to_device(place, crop_, crop_bytes_, decode_stream_));
  // The first copy of the table has ended when this one begins: the stream waits for it. But it may
  // still read host_jobs, so this one has a place of its own.
  *replaced_job_ = make_crop_job(recipe, reinterpret_cast<const std::uint8_t*>(place),
                                 kRgbBytes * static_cast<std::size_t>(options_.size));
  check("replace", runtime_.copy_to_device(slot.jobs + sample, replaced_job_, sizeof(SampleJob),
                                           decode_stream_));
  check("replace", runtime_.record(crop_copied_, decode_stream_));
  // `crop_` and `replaced_job_` are free again.
  if (!wait_within(runtime_, objects_, crop_copied_, {&stop_})) return false;
  slot.host_jobs[sample].step_count = replaced_job_->step_count;
  return true;
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
