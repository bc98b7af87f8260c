// Devices: where batches go, with the host memory that they copy from. One timeline per rank, on
// the host's clock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/augment.h"
#include "loaderscope/errors.h"
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
  bool page_locked;  // the device copies from page-locked memory
  // Throws RunError when there is not enough memory.
  std::unique_ptr<HostSlots> (*make)(std::size_t count, Bytes slot_bytes);
  // Does the same in memory that worker processes share, which begins on a page and has whole_pages
  // of each slot. It must outlive the slots. Returns null if that is not possible.
  std::unique_ptr<HostSlots> (*wrap_existing)(std::byte* place, std::size_t count,
                                              Bytes slot_bytes);
};

// The memory that the device copies from, per mode; with `pin-thread` workers write into `pageable`
// slots first.
std::span<const MemoryRow> memory_table();  // src/device/memory_modes.cpp
const MemoryRow& memory_row(MemoryMode mode);

// A task of a batch before its times are known.
struct LaneTask {
  Stage stage = Stage::gpu_decode;
  Lane lane = Lane::decode;
  Nanos duration = 0;  // alone on the device
};

// The most decoded pixels of one image that a device holds. Larger images are for the host.
inline constexpr Bytes kMaxRegionBytes = Bytes{48} << 20;

// A sample of a data set that a device keeps.
struct HeldSample {
  Bytes offset = 0, bytes = 0;
  ImageHeader image;  // size of the stored image, or of the one that is kept decoded
  bool is_held = false;
};

// A data set that a device keeps from before the first batch.
struct HeldData {
  std::span<const std::byte> bytes = {};
  std::span<const HeldSample> samples = {};  // index: that of the data set

  bool is_empty() const { return bytes.empty(); }
};

// Facts that a device needs before it makes batches of mixed slots.
struct MakePlan {
  AugmentOptions augment;
  std::int64_t batch = 0;    // samples
  std::int64_t batches = 0;  // batches that the device holds at the same time
  Bytes slot_bytes = 0;      // size of a mixed slot
  DecodeOn decode = DecodeOn::cpu;
  // Facts of samples that were drawn. Others may be larger.
  int width = 0, height = 0;    // a large image that the device decodes
  Bytes mean_region_bytes = 0;  // decoded pixels that a crop needs, or of a whole resident image
  HeldData resident;            // data set to keep; valid until the run begins

  bool decodes() const { return decode != DecodeOn::cpu; }
  // The device decodes from its own memory.
  bool decodes_resident() const { return decodes() && !resident.is_empty(); }
};

// The loader's part while a device makes a batch, on the thread that calls make().
class MakeListener {
 public:
  enum class Way : std::uint8_t { cuda, cpu };
  virtual ~MakeListener() = default;
  // A stored sample was not decoded by JPEG engines. `reason` is one word, or "".
  virtual void decoded(Way way, std::string_view reason) = 0;
  // Makes the next good sample of the data set in place of one that cannot be decoded. Writes its
  // crop to `crop` and returns its recipe. Throws RunError if the run must not continue.
  virtual AugmentRecipe replace(const SampleEntry& entry, const SampleError& error,
                                std::byte* crop) = 0;
};

// A batch for the device to make.
struct MakeJob {
  std::span<const LaneTask> tasks = {};  // run one after another
  // A mixed slot: a SampleEntry for each sample, then their bytes. Null: the work is only declared.
  // The slot stays as it is until the compute of the step has ended.
  const std::byte* slot = nullptr;
  std::int32_t samples = 0;
  MakeListener* listener = nullptr;  // set with a slot
};

// Times of one step on the device.
struct DeviceTimes {
  std::int64_t step = 0;
  Interval copy;    // not set when there was nothing to copy
  Nanos ready = 0;  // could begin to compute; before compute.begin only with a barrier
  Interval compute;
  Interval augment;  // normalises bytes right before `ready`; not set when there were none
  Interval launch;   // calls of the trainer thread that launched the compute, on a real device
  std::array<Interval, kMaxDeviceWork> made;  // runs of the tasks of its batch
};

struct CopyJob {
  std::int64_t step = 0;
  const std::byte* host = nullptr;
  Bytes bytes = 0;
  Bytes reused_bytes = 0;  // bytes of an earlier step that are computed on, instead of a copy
  Nanos duration = 0;  // declared or simulated time of the copy; on a real device, extra time in
                       // addition to the copy of `bytes`
  bool caller_copies = false;  // pageable memory: the calling thread copies
};

// Notes and metrics of a device after the run.
struct DeviceFacts {
  std::vector<std::string> notes;
  std::vector<Metric> metrics;
};

// The device of one rank. Only the trainer thread of that rank may call it, except make() and
// cancel(). Steps come in order, and a copy before its compute. A copy requires that the compute
// `in-flight` steps earlier was waited for. Blocking calls return false as soon as the run must
// stop. Throws RunError when the device fails.
class Device {
 public:
  virtual ~Device() = default;
  virtual bool submit_copy(const CopyJob& job) = 0;  // a copy by the caller has ended on return
  virtual bool wait_copied(std::int64_t step) = 0;
  virtual void submit_compute(std::int64_t step, Nanos duration) = 0;
  virtual bool wait_computed(std::int64_t step) = 0;
  // Makes the batch of the next step on the device: its compute waits for the tasks. Steps come in
  // order. For the device thread of the rank. The default throws RunError: the device makes
  // nothing.
  virtual bool make(const MakeJob& job);
  // Takes the memory to make batches of mixed slots. Called once, before the slots are made and
  // before the first step. Does nothing by default.
  virtual void prepare(const MakePlan& plan);
  // Keeps a data set in the memory of the device, for entries that are held. Called once, after
  // prepare(), which was given the same data. It may be freed afterwards. Does nothing by default.
  virtual void keep(const HeldData& data);
  // Returns the times of the next step in order, as soon as they are known.
  virtual std::optional<DeviceTimes> collect() = 0;

  // Makes the host memory that the device copies from, for the thread that fills it. Free it before
  // the device. The default uses memory_table().
  virtual std::unique_ptr<HostSlots> make_slots(MemoryMode mode, std::size_t count,
                                                Bytes slot_bytes);
  // The same in memory that worker processes share, as MemoryRow::wrap_existing.
  virtual std::unique_ptr<HostSlots> wrap_slots(MemoryMode mode, std::byte* place,
                                                std::size_t count, Bytes slot_bytes);
  virtual DeviceFacts facts() const { return {}; }
  // Unblocks the thread of the device when the run must stop. Any thread may call it.
  virtual void cancel() {}
  // Waits a little for submitted work, after all threads have ended. False: the work does not end,
  // or the device is lost. Then neither the device nor its memory may be freed.
  virtual bool end() { return true; }
};

// A row of record/devices.def. device_kind() has its kind.
struct DeviceRow {
  Row row;
  // The devices of all ranks: they may have to know each other (a barrier). `stop` not 0: the run
  // is to stop.
  std::vector<std::unique_ptr<Device>> (*make)(const RunConfig& config,
                                               const std::atomic<int>& stop);
};

std::span<const DeviceRow> device_table();           // src/device/registry.cpp
const DeviceRow& device_row(std::string_view name);  // requires the device name of a resolved
                                                     // configuration

// Returns one sentence why a GPU with a driver cannot be used, such as an old driver. Returns
// nothing if the GPU is usable, or if there is no GPU.
std::optional<std::string> why_gpu_unusable();

}  // namespace loaderscope
