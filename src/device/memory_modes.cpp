#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "device/devices.h"
#include "loaderscope/device.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

template <Locking locking>
std::unique_ptr<HostSlots> make(std::size_t count, Bytes slot_bytes) {
  return make_mapped_slots(count, slot_bytes, locking);
}

template <Locking locking>
std::unique_ptr<HostSlots> wrap_existing(std::byte* place, std::size_t count, Bytes slot_bytes) {
  return wrap_mapped_slots(place, count, slot_bytes, locking);
}

MemoryRow row(MemoryMode mode, bool page_locked, decltype(MemoryRow::make) maker,
              decltype(MemoryRow::wrap_existing) wrapper) {
  for (const Word<MemoryMode>& word : Words<MemoryMode>::table()) {
    if (word.value == mode) return {{word.name, word.help}, mode, page_locked, maker, wrapper};
  }
  return {{"?", ""}, mode, page_locked, maker, wrapper};
}

}  // namespace

std::span<const MemoryRow> memory_table() {
  static const std::array<MemoryRow, 5> kTable = {
      row(MemoryMode::pageable, false, make<Locking::none>, wrap_existing<Locking::none>),
      row(MemoryMode::pin_thread, true, make<Locking::when_made>,
          wrap_existing<Locking::when_made>),
      row(MemoryMode::pinned_slots, true, make<Locking::when_made>,
          wrap_existing<Locking::when_made>),
      row(MemoryMode::registered, true, make<Locking::afterwards>,
          wrap_existing<Locking::afterwards>),
      // Only the driver makes such memory, for one process.
      row(MemoryMode::write_combined, true, make<Locking::when_made>, nullptr),
  };
  return kTable;
}

const MemoryRow& memory_row(MemoryMode mode) {
  for (const MemoryRow& row : memory_table()) {
    if (row.mode == mode) return row;
  }
  return memory_table().front();
}

std::unique_ptr<HostSlots> Device::make_slots(MemoryMode mode, std::size_t count,
                                              Bytes slot_bytes) {
  return memory_row(mode).make(count, slot_bytes);
}

std::unique_ptr<HostSlots> Device::wrap_slots(MemoryMode mode, std::byte* place, std::size_t count,
                                              Bytes slot_bytes) {
  return memory_row(mode).wrap_existing(place, count, slot_bytes);
}

void Device::prepare(const MakePlan&) {}

void Device::keep(const HeldData&) {}

bool Device::make(const MakeJob&) {
  throw RunError("this device makes no batches", "leave out --decode and --augment-on");
}

namespace {

class MappedSlots : public HostSlots {
 public:
  MappedSlots(std::byte* place, std::size_t count, Bytes slot_bytes, Locking locking)
      : slot_bytes_(whole_pages(slot_bytes)),
        bytes_(static_cast<std::size_t>(slot_bytes_) * count),
        owns_(place == nullptr) {
    if (bytes_ == 0) return;
    data_ = owns_ ? map(count) : place;
    if (locking == Locking::none) return;
    if (locking == Locking::afterwards) touch();
    lock();
    if (locking == Locking::when_made) touch();
  }
  ~MappedSlots() override {
    if (data_ == nullptr) return;
    if (owns_) {
      ::munmap(data_, bytes_);
    } else if (locked_ > 0) {
      ::munlock(data_, bytes_);
    }
  }
  MappedSlots(const MappedSlots&) = delete;
  MappedSlots& operator=(const MappedSlots&) = delete;

  std::byte* slot(std::size_t index) override {
    return data_ + index * static_cast<std::size_t>(slot_bytes_);
  }
  Bytes locked_bytes() const override { return locked_; }
  std::string fallback_reason() const override { return fallback_; }

 private:
  std::byte* map(std::size_t count) const {
    void* address =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) {
      throw RunError("host memory: " + format_size(static_cast<double>(bytes_)) + " for " +
                         std::to_string(count) + " batches are not available (" +
                         std::strerror(errno) + ")",
                     "use fewer workers, a smaller --prefetch-factor or a smaller --batch-size");
    }
    return static_cast<std::byte*>(address);
  }

  void touch() {
    for (std::size_t at = 0; at < bytes_; at += static_cast<std::size_t>(kSlotAlignment))
      data_[at] = std::byte{0};
  }

  void lock() {
    if (::mlock(data_, bytes_) == 0) {
      locked_ = static_cast<Bytes>(bytes_);
      return;
    }
    rlimit limit{};
    ::getrlimit(RLIMIT_MEMLOCK, &limit);
    fallback_ = "page-locking " + format_size(static_cast<double>(bytes_)) + " is not allowed (" +
                std::strerror(errno) + ", limit " +
                format_size(static_cast<double>(limit.rlim_cur)) +
                "): the memory is ordinary, copies are simulated at the page-locked rate; raise it "
                "with ulimit -l";
  }

  Bytes slot_bytes_;
  std::size_t bytes_;
  bool owns_;
  std::byte* data_ = nullptr;
  Bytes locked_ = 0;
  std::string fallback_;
};

}  // namespace

std::unique_ptr<HostSlots> make_mapped_slots(std::size_t count, Bytes slot_bytes, Locking locking) {
  return std::make_unique<MappedSlots>(nullptr, count, slot_bytes, locking);
}

std::unique_ptr<HostSlots> wrap_mapped_slots(std::byte* place, std::size_t count, Bytes slot_bytes,
                                             Locking locking) {
  return std::make_unique<MappedSlots>(place, count, slot_bytes, locking);
}

}  // namespace loaderscope
