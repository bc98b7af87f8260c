#include "device/cuda/cuda_slots.h"

#include <algorithm>
#include <utility>

#include "device/cuda/runtime.h"
#include "device/devices.h"

namespace loaderscope::cuda {
namespace {

std::string fallback_sentence(MemoryMode mode, Bytes bytes, const Status& status) {
  return sentence("memory = " + std::string(name_of(mode)) + ": " +
                      format_size(static_cast<double>(bytes)) +
                      " cannot be page-locked, so that batches are in ordinary memory and their "
                      "copies keep the trainer",
                  status);
}

// Copies may still read what is about to be freed.
void finish_copies(DeviceGroup& gang, int device) {
  gang.end();
  gang.runtime().set_device(device);
  gang.runtime().synchronise_device();
}

class PinnedSlots : public HostSlots {
 public:
  PinnedSlots(std::shared_ptr<DeviceGroup> gang, int device, std::byte* data, std::size_t count,
              Bytes slot_bytes)
      : gang_(std::move(gang)),
        device_(device),
        data_(data),
        count_(count),
        slot_bytes_(slot_bytes) {}
  ~PinnedSlots() override {
    finish_copies(*gang_, device_);
    gang_->runtime().free_host(data_);
  }
  PinnedSlots(const PinnedSlots&) = delete;
  PinnedSlots& operator=(const PinnedSlots&) = delete;

  std::byte* slot(std::size_t index) override {
    return data_ + index * static_cast<std::size_t>(slot_bytes_);
  }
  Bytes locked_bytes() const override { return static_cast<Bytes>(count_) * slot_bytes_; }
  std::string fallback_reason() const override { return ""; }

 private:
  std::shared_ptr<DeviceGroup> gang_;
  int device_;
  std::byte* data_;
  std::size_t count_;
  Bytes slot_bytes_;
};

// Ordinary memory, private or shared, registered or not.
class OrdinarySlots : public HostSlots {
 public:
  OrdinarySlots(std::shared_ptr<DeviceGroup> gang, int device, std::unique_ptr<HostSlots> slots)
      : gang_(std::move(gang)), device_(device), slots_(std::move(slots)) {}
  ~OrdinarySlots() override { finish_copies(*gang_, device_); }
  OrdinarySlots(const OrdinarySlots&) = delete;
  OrdinarySlots& operator=(const OrdinarySlots&) = delete;

  void lock(MemoryMode mode, std::size_t count, Bytes slot_bytes) {
    range_.emplace(gang_->runtime(), slots_->slot(0), count, slot_bytes);
    if (!range_->status().ok()) {
      explain(fallback_sentence(mode, static_cast<Bytes>(count) * slot_bytes, range_->status()));
    }
  }
  void explain(std::string fallback) { fallback_ = std::move(fallback); }
  void notify_gang() {
    if (locked_bytes() == 0) gang_->copies_block();
  }

  std::byte* slot(std::size_t index) override { return slots_->slot(index); }
  Bytes locked_bytes() const override { return range_ ? range_->bytes() : 0; }
  std::string fallback_reason() const override { return fallback_; }

 private:
  std::shared_ptr<DeviceGroup> gang_;
  int device_;
  std::unique_ptr<HostSlots> slots_;
  std::optional<RegisteredRange> range_;
  std::string fallback_;
};

}  // namespace

RegisteredRange::RegisteredRange(Runtime& runtime, std::byte* begin, std::size_t slots,
                                 Bytes slot_bytes, Bytes chunk)
    : runtime_(runtime) {
  const auto step = static_cast<std::size_t>(std::max<Bytes>(chunk / slot_bytes, 1));
  for (std::size_t slot = 0; slot < slots; slot += step) {
    const std::size_t bytes = std::min(step, slots - slot) * static_cast<std::size_t>(slot_bytes);
    std::byte* place = begin + slot * static_cast<std::size_t>(slot_bytes);
    status_ = runtime_.register_host(place, bytes);
    if (!status_.ok()) {
      unregister();
      return;
    }
    chunks_.push_back(place);
    bytes_ += static_cast<Bytes>(bytes);
  }
}

RegisteredRange::~RegisteredRange() { unregister(); }

void RegisteredRange::unregister() {
  for (std::byte* chunk : chunks_) runtime_.unregister_host(chunk);
  chunks_.clear();
  bytes_ = 0;
}

std::unique_ptr<HostSlots> make_cuda_slots(std::shared_ptr<DeviceGroup> gang, int device,
                                           MemoryMode mode, std::size_t count, Bytes slot_bytes) {
  const Bytes bytes = whole_pages(slot_bytes);
  if (bytes == 0 || count == 0) return memory_row(mode).make(count, slot_bytes);
  gang->runtime().set_device(device);
  Status status;
  const bool allocates = mode != MemoryMode::pageable && mode != MemoryMode::registered;
  if (allocates) {
    void* place = nullptr;
    const HostKind kind =
        mode == MemoryMode::write_combined ? HostKind::write_combined : HostKind::plain;
    status = gang->runtime().allocate_host(count * static_cast<std::size_t>(bytes), kind, place);
    if (status.ok()) {
      return std::make_unique<PinnedSlots>(std::move(gang), device, static_cast<std::byte*>(place),
                                           count, bytes);
    }
  }
  auto slots = std::make_unique<OrdinarySlots>(std::move(gang), device,
                                               make_mapped_slots(count, bytes, Locking::none));
  if (mode == MemoryMode::registered) slots->lock(mode, count, bytes);
  if (allocates) slots->explain(fallback_sentence(mode, static_cast<Bytes>(count) * bytes, status));
  slots->notify_gang();
  return slots;
}

std::unique_ptr<HostSlots> wrap_cuda_slots(std::shared_ptr<DeviceGroup> gang, int device,
                                           MemoryMode mode, std::byte* place, std::size_t count,
                                           Bytes slot_bytes) {
  const Bytes bytes = whole_pages(slot_bytes);
  gang->runtime().set_device(device);
  auto slots = std::make_unique<OrdinarySlots>(
      std::move(gang), device, wrap_mapped_slots(place, count, bytes, Locking::none));
  if (mode != MemoryMode::pageable) slots->lock(mode, count, bytes);
  slots->notify_gang();
  return slots;
}

}  // namespace loaderscope::cuda
