// Files by mmap. A mapped file that is cut short, or whose storage fails, would end the process by
// SIGBUS as soon as somebody looks at the missing page, and that may be long after `read`. So the
// bytes are copied out of the mapping under guard, and decoders work on the copy.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "source/access.h"
#include "source/guarded_copy.h"
#include "source/readers.h"

namespace loaderscope::source {
namespace {

class Mapping {
 public:
  // Maps `size` bytes from `offset`, which need not be at a page.
  Mapping(const OpenObject& object, std::size_t offset, std::size_t size, int flags)
      : lead_(offset % kPage), size_(lead_ + size) {
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE | flags, object.fd,
                   static_cast<off_t>(offset - lead_));
    error_ = data_ == MAP_FAILED ? errno : 0;
  }
  ~Mapping() {
    if (error_ == 0) ::munmap(data_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  int error() const { return error_; }  // errno
  const std::byte* data() const { return static_cast<std::byte*>(data_) + lead_; }

 private:
  std::size_t lead_, size_;
  void* data_;
  int error_;
};

// Objects that hold several samples stay mapped while the opener keeps them open: to map takes
// longer than to copy a small sample.
class KeptMappings {
 public:
  // Null where there is no room for one.
  const std::byte* of(const std::shared_ptr<const OpenObject>& object) {
    const auto is_of = [&](const Kept& one) {
      return !one.object.owner_before(object) && !object.owner_before(one.object);
    };
    const auto known = std::find_if(kept_.begin(), kept_.end(), is_of);
    if (known != kept_.end()) return known->mapping->data();
    std::erase_if(kept_, [](const Kept& one) { return one.object.expired(); });
    auto mapping = std::make_unique<Mapping>(*object, 0, object->size, 0);
    if (mapping->error() != 0) return nullptr;
    return kept_.emplace_back(Kept{object, std::move(mapping)}).mapping->data();
  }

 private:
  struct Kept {
    std::weak_ptr<const OpenObject> object;
    std::unique_ptr<Mapping> mapping;
  };
  std::vector<Kept> kept_;
};

class MmapReader final : public SampleReader {
 public:
  explicit MmapReader(const Access& access) : access_(access), opener_(access) {}

  std::span<const std::byte> read(std::int64_t sample) override {
    const OpenExtent extent = opener_.open(sample);
    return copied(extent, buffer_.take(extent.size));
  }
  std::span<const std::byte> read_to(std::int64_t sample, std::byte* place) override {
    const OpenExtent extent = opener_.open(sample);
    return copied(extent, {place, extent.size});
  }

 private:
  std::span<const std::byte> copied(const OpenExtent& extent, std::span<std::byte> to) {
    const bool is_part = extent.size < extent.object->size;
    if (const std::byte* whole = is_part ? kept_.of(extent.object) : nullptr) {
      copy(extent, whole + extent.offset, to);
    } else {
      const Mapping mapping(*extent.object, extent.offset, extent.size, MAP_POPULATE);
      if (mapping.error() != 0) fail_to_read(mapping.error());
      copy(extent, mapping.data(), to);
    }
    access_.count_request(static_cast<Bytes>(extent.size));
    return to;
  }

  static void copy(const OpenExtent& extent, const std::byte* from, std::span<std::byte> to) {
    const std::size_t copied = copy_guarded(to, from);
    if (copied < to.size()) fail_short(extent, copied);
    if (to.back() == std::byte{0} && !page_goes_on(from + to.size())) check_size(extent);
  }

  // Returns true if the page has data after `behind`. After a truncation within a page, the rest
  // reads as zeros, so other bytes show that nothing is missing before them.
  static bool page_goes_on(const std::byte* behind) {
    std::array<std::byte, 64> next;
    const std::size_t left = (kPage - reinterpret_cast<std::uintptr_t>(behind) % kPage) % kPage;
    const std::span<std::byte> seen = std::span(next).first(std::min(left, next.size()));
    return copy_guarded(seen, behind) == seen.size() &&
           std::any_of(seen.begin(), seen.end(), [](std::byte b) { return b != std::byte{0}; });
  }

  static void check_size(const OpenExtent& extent) {
    struct stat facts {};
    if (::fstat(extent.object->fd, &facts) != 0) fail_to_read(errno);
    const auto left = facts.st_size - static_cast<off_t>(extent.offset);
    if (left < static_cast<off_t>(extent.size))
      throw shrank(static_cast<std::size_t>(std::max<off_t>(left, 0)), extent.size);
  }

  // Throws for a page that cannot be read: it is after the new end of the file, or the storage
  // failed.
  [[noreturn]] static void fail_short(const OpenExtent& extent, std::size_t copied) {
    std::byte next;
    const ssize_t got =
        ::pread(extent.object->fd, &next, 1, static_cast<off_t>(extent.offset + copied));
    if (got < 0) fail_to_read(errno);
    throw shrank(copied, extent.size);
  }

  const Access& access_;
  ExtentOpener opener_;
  KeptMappings kept_;
  SampleBuffer buffer_;
};

}  // namespace

std::unique_ptr<SampleReader> make_mmap_reader(const Access& access) {
  return std::make_unique<MmapReader>(access);
}

}  // namespace loaderscope::source
