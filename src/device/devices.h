// Factories for the rows of the device table.
#pragma once

#include <functional>
#include <optional>

#include "loaderscope/device.h"

namespace loaderscope {

// A barrier between the steps of our ranks and those of other processes.
class StepBarrier {
 public:
  virtual ~StepBarrier() = default;
  virtual void ready(std::int64_t step, Nanos at) = 0;             // all of ours could begin then
  virtual std::optional<Nanos> find_begin(std::int64_t step) = 0;  // null while unknown
  // Is called from another thread when another begin is known.
  virtual void on_begin(std::function<void()> call) = 0;
};

std::vector<std::unique_ptr<Device>> make_sim_devices(const RunConfig& config,
                                                      const std::atomic<int>& stop);
// `gate` must outlive the devices; with sync-ranks their steps begin when it says so.
std::vector<std::unique_ptr<Device>> make_barrier_devices(const RunConfig& config,
                                                          const std::atomic<int>& stop,
                                                          StepBarrier& gate);
std::vector<std::unique_ptr<Device>> make_null_devices(const RunConfig& config,
                                                       const std::atomic<int>& stop);

std::vector<std::unique_ptr<Device>> make_cuda_devices(const RunConfig& config,
                                                       const std::atomic<int>& stop);
std::optional<std::string> why_no_cuda();  // a sentence; nothing where a GPU can be used

// Slots in anonymous memory, page-locked or not. Where no real device needs to know of it, `mlock`
// is all that page locking means.
enum class Locking {
  none,
  when_made,   // locked and touched before anything is written
  afterwards,  // ordinary memory that is locked once it exists
};

std::unique_ptr<HostSlots> make_mapped_slots(std::size_t count, Bytes slot_bytes, Locking locking);
// In memory that is there already, and stays when the slots are gone; as MemoryRow::wrap_existing.
std::unique_ptr<HostSlots> wrap_mapped_slots(std::byte* place, std::size_t count, Bytes slot_bytes,
                                             Locking locking);

}  // namespace loaderscope
