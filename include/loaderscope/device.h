// Devices: where batches go, with the host memory that they copy from. One timeline per rank, on
// the host's clock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/events.h"
#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"
#include "loaderscope/units.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

// A number of slots of equal size, allocated at once and freed with this object.
class HostSlots {
 public:
  virtual ~HostSlots() = default;
  virtual std::byte* slot(std::size_t index) = 0;
  virtual Bytes locked_bytes() const = 0;  // page-locked, 0 for pageable memory
  // The reason why memory is not page-locked although it should be, and the remedy. Empty if it is.
  virtual std::string fallback_reason() const = 0;
};

inline constexpr Bytes kSlotAlignment =
    4096;  // slots begin on a page, as direct reads and devices want it
constexpr Bytes whole_pages(Bytes bytes) {
  return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

struct MemoryRow {
  Row row;
  MemoryMode mode;
  bool page_locked;  // what the device copies from
  // Throws RunError when there is not enough memory.
  std::unique_ptr<HostSlots> (*make)(std::size_t count, Bytes slot_bytes);
  // The same in memory that worker processes share, which begins on a page and has whole_pages of
  // each slot; it outlives the slots. Null where that is not possible.
  std::unique_ptr<HostSlots> (*wrap_existing)(std::byte* place, std::size_t count,
                                              Bytes slot_bytes);
};

// The memory that the device copies from, per mode; with `pin-thread` workers write into `pageable`
// slots first.
std::span<const MemoryRow> memory_table();  // src/device/memory_modes.cpp
const MemoryRow& memory_row(MemoryMode mode);

// When the device worked on a step.
struct DeviceTimes {
  std::int64_t step = 0;
  Interval copy;    // not set when there was nothing to copy
  Nanos ready = 0;  // could begin to compute; before compute.begin only with a barrier
  Interval compute;
  Nanos augmented = 0;  // of compute: normalising bytes on the device, which comes first
  Interval launch;      // of the caller's thread: the calls that launched the compute, where real
};

struct CopyJob {
  std::int64_t step = 0;
  const std::byte* host = nullptr;
  Bytes bytes = 0;
  Bytes reused_bytes = 0;  // bytes of an earlier step that are computed on, instead of a copy
  Nanos duration = 0;  // what the copy takes where it is declared or simulated; on a real device
                       // beside the copy of bytes
  bool by_caller = false;  // pageable memory: the calling thread copies
};

// What a device says of itself once the run is over.
struct DeviceFacts {
  std::vector<std::string> notes;
  std::vector<Metric> metrics;
};

// The device of one rank, used by that rank's trainer thread alone, but for cancel(). Steps come in
// order, a copy before its compute, and none before the compute `in-flight` steps earlier was
// waited for. What blocks returns false as soon as the run is to stop. Throws RunError when the
// device fails.
class Device {
 public:
  virtual ~Device() = default;
  virtual bool submit_copy(const CopyJob& job) = 0;  // a copy by the caller has ended on return
  virtual bool wait_copied(std::int64_t step) = 0;
  virtual void submit_compute(std::int64_t step, Nanos duration) = 0;
  virtual bool wait_computed(std::int64_t step) = 0;
  // The times of the next step in order, as soon as they are known.
  virtual std::optional<DeviceTimes> collect() = 0;

  // The host memory that it copies from, for whoever fills it; freed before the device. Unless the
  // device has its own, that of memory_table().
  virtual std::unique_ptr<HostSlots> make_slots(MemoryMode mode, std::size_t count,
                                                Bytes slot_bytes);
  // The same in memory that worker processes share, as MemoryRow::wrap_existing.
  virtual std::unique_ptr<HostSlots> wrap_slots(MemoryMode mode, std::byte* place,
                                                std::size_t count, Bytes slot_bytes);
  virtual DeviceFacts facts() const { return {}; }
  // From any thread, once the run is to stop: what its own thread is blocked in comes back.
  virtual void cancel() {}
};

enum class DeviceKind : std::uint8_t {
  gpu,        // a real one
  simulated,  // in real time
  none,       // batches are dropped, there is no "busy"
  program,    // whatever a measured program does with a batch
};

struct DeviceRow {
  Row row;
  DeviceKind kind;
  // The devices of all ranks: they may have to know each other (a barrier). `stop` not 0: the run
  // is to stop.
  std::vector<std::unique_ptr<Device>> (*make)(const RunConfig& config,
                                               const std::atomic<int>& stop);
};

std::span<const DeviceRow> device_table();           // src/device/registry.cpp
const DeviceRow& device_row(std::string_view name);  // of a resolved configuration
DeviceKind device_kind(std::string_view name);

// Why a GPU whose driver is here cannot be used, as a sentence: the driver is too old, say. Nothing
// where there is none or it can be used.
std::optional<std::string> why_gpu_unusable();

}  // namespace loaderscope
