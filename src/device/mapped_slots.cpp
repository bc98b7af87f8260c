#include "device/mapped_slots.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "loaderscope/errors.h"

namespace loaderscope {
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
                     std::to_string(count) + " batches cannot be had (" + std::strerror(errno) +
                     "); use fewer workers, a smaller --prefetch-factor or a smaller --batch-size");
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
