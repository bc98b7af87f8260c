// Runs of real images on a device that decodes or augments, and the samples that it would make.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/augment.h"
#include "loaderscope/decode.h"
#include "loaderscope/settings.h"
#include "unit/native/native_run.h"
#include "unit/native/photos.h"

namespace loaderscope::native {

inline constexpr int kSide = 16;

// Does what the device would do, on the host.
class Finisher {
 public:
  explicit Finisher(const AugmentOptions& options)
      : decoder_(make_any_decoder({})), augmenter_(make_augmenter(options)) {}

  // `kept`: the data set that the device keeps.
  void finish(const std::byte* slot, std::span<const std::byte> kept, std::int32_t position,
              std::byte* sample) {
    SampleEntry entry;
    std::memcpy(&entry, slot + static_cast<std::size_t>(position) * sizeof entry, sizeof entry);
    const std::byte* const bytes = (entry.is_held ? kept.data() : slot) + entry.offset;
    ++kinds_[entry.kind];
    if (entry.is_held) ++held_;
    switch (entry.kind) {
      case SampleEntry::Kind::stored:
        decoder_->open({bytes, static_cast<std::size_t>(entry.bytes)});
        return augmenter_->apply(decoder_->decode(entry.held), entry.recipe, sample);
      case SampleEntry::Kind::pixels:
        return augmenter_->apply(
            {reinterpret_cast<const std::uint8_t*>(bytes),
             3 * static_cast<std::size_t>(entry.held.width), entry.held, entry.scale_denominator},
            entry.recipe, sample);
      case SampleEntry::Kind::crop:
        for (std::size_t i = 0; i < kSide * kSide; ++i)
          for (std::size_t c = 0; c < 3; ++c) sample[c * kSide * kSide + i] = bytes[3 * i + c];
    }
  }

  std::int64_t count(SampleEntry::Kind kind) { return kinds_[kind]; }
  std::int64_t held() const { return held_; }

 private:
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Augmenter> augmenter_;
  std::map<SampleEntry::Kind, std::int64_t> kinds_;
  std::int64_t held_ = 0;
};

inline constexpr std::string_view kCommon =
    "size=16 transfer=u8 augment=random-resized-crop augment=flip batch=5 epochs=2 shuffle=true "
    "seed=3 "
    "warmup=0 ";
inline constexpr std::string_view kOnDevice =
    "device=sim cost=gpu-decode=1us cost=gpu-augment=1us ";

inline std::vector<std::uint64_t> all_samples(const std::vector<Delivered>& batches) {
  std::vector<std::uint64_t> all;
  for (const Delivered& batch : batches)
    all.insert(all.end(), batch.samples.begin(), batch.samples.end());
  return all;
}

inline std::vector<std::uint64_t> samples_of_host(const Photos& photos) {
  NotingDevices devices(kSampleBytes);
  run(fmt::format("data={} {} device=null workers=1", photos.path(), kCommon), devices.context());
  return all_samples(devices.delivered());
}

struct DeviceRun {
  RunRecord record;
  std::vector<std::uint64_t> samples;
  std::int64_t stored = 0, pixels = 0, crops = 0;
  std::int64_t held = 0;  // samples whose bytes the device keeps
};

inline DeviceRun run_on_device(const Photos& photos, const std::string& more) {
  const std::string settings =
      fmt::format("data={} {} {} {}", photos.path(), kCommon, kOnDevice, more);
  NotingDevices devices(kSampleBytes);
  Finisher finisher(augment_options(parse_config(settings)));
  devices.finish_with([&](const std::byte* slot, std::int32_t position, std::byte* sample) {
    finisher.finish(slot, devices.kept(), position, sample);
  });
  DeviceRun result;
  result.record = run(settings, devices.context());
  expect_closes(result.record);
  result.samples = all_samples(devices.made());
  result.stored = finisher.count(SampleEntry::Kind::stored);
  result.pixels = finisher.count(SampleEntry::Kind::pixels);
  result.crops = finisher.count(SampleEntry::Kind::crop);
  result.held = finisher.held();
  return result;
}

inline double find_value(const RunRecord& record, std::string_view name) {
  const auto found = std::find_if(record.metrics.begin(), record.metrics.end(),
                                  [&](const Metric& one) { return one.name == name; });
  return found == record.metrics.end() ? 0 : found->value;
}

}  // namespace loaderscope::native
