// Runs of the native engine for tests: short, and with margins of at least two, because time here
// is real.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_meter.h"
#include "engine/native/native_engine.h"
#include "loaderscope/analysis.h"
#include "loaderscope/device.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "record/recorder.h"

namespace loaderscope::native {

// The settings as a scenario would give them, "workers=1 cost=decode=8ms:sleep ...", for a machine
// with 1024 cores.
RunConfig parse_config(std::string_view settings);
RunRecord run(std::string_view settings, const RunContext& context = {});

// In every row of every rank: compute + all causes = window, to the ns, without a gap between rows.
void expect_closes(const RunRecord& record);

// `wrong` says what does not hold, or nothing. Where something else kept a core meanwhile, which
// bends what is measured, it is asked again a moment later, up to ten times; else it fails at once.
void expect_in_a_quiet_moment(const std::function<std::string()>& wrong);

// A batch that the device of one rank received.
struct Delivered {
  std::int64_t step = 0;
  std::vector<std::uint64_t> samples;  // a hash of the bytes of each
  Bytes kept = 0;                      // bytes of an earlier step, reused on the device
};

inline constexpr Bytes kSampleBytes = Bytes{3} * 16 * 16;  // "size=16 transfer=u8"

// Devices that note what they are handed and pass it on to the device of the configuration. They
// also check that memory is left alone until the step has computed.
class NotingDevices {
 public:
  explicit NotingDevices(Bytes sample_bytes) : sample_bytes_(sample_bytes) {}

  RunContext context();
  std::vector<Delivered> delivered(std::size_t rank = 0) const;  // sorted by step
  std::int64_t overwritten() const { return overwritten_.load(); }

  // Makes the bytes of a sample of a mixed slot, for the batches that the device makes.
  using FinishSample =
      std::function<void(const std::byte* slot, std::int32_t position, std::byte* sample)>;
  void finish_with(FinishSample finish) { finish_sample_ = std::move(finish); }
  std::vector<Delivered> made(std::size_t rank = 0) const;  // sorted by step
  // The data set that the device was given to keep.
  std::span<const std::byte> kept(std::size_t rank = 0) const { return kept_.at(rank); }

 private:
  class Noting;

  Bytes sample_bytes_;
  mutable std::mutex mutex_;
  std::vector<std::vector<Delivered>> ranks_, made_;
  std::vector<std::vector<std::byte>> kept_;
  FinishSample finish_sample_;
  std::atomic<std::int64_t> overwritten_{0};
};

}  // namespace loaderscope::native
