// Files by mmap. A mapped file that is cut short, or whose storage fails, would end the process by
// SIGBUS as soon as somebody looks at the missing page, and that may be long after `read`. So the
// bytes are copied out of the mapping under guard, and decoders work on the copy.
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "source/access.h"
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
  const std::byte* find(const std::shared_ptr<const OpenObject>& object) {
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
    if (const std::byte* whole = is_part ? kept_.find(extent.object) : nullptr) {
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
    if (to.back() == std::byte{0} && !page_continues(from + to.size())) check_size(extent);
  }

  // Returns true if the page has data after `rest`. After a truncation within a page, the rest
  // reads as zeros, so other bytes show that nothing is missing before them.
  static bool page_continues(const std::byte* rest) {
    std::array<std::byte, 64> next;
    const std::size_t left = (kPage - reinterpret_cast<std::uintptr_t>(rest) % kPage) % kPage;
    const std::span<std::byte> seen = std::span(next).first(std::min(left, next.size()));
    return copy_guarded(seen, rest) == seen.size() &&
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

namespace {

// Address range that this thread may fail to read.
struct Guarded {
  std::uintptr_t begin = 0, end = 0;  // equal: nothing is guarded
  sigjmp_buf stopped;
};
thread_local Guarded guarded;
struct sigaction before_bus, before_segv;

// Returns to the guarded code, or restores the earlier handlers. The access is then repeated.
void on_failed_access(int signal, siginfo_t* facts, void*) {
  const auto place = reinterpret_cast<std::uintptr_t>(facts->si_addr);
  if (place >= guarded.begin / kPage * kPage && place < guarded.end)
    siglongjmp(guarded.stopped, 1);  // the signal is not blocked meanwhile: SA_NODEFER
  ::sigaction(signal, signal == SIGBUS ? &before_bus : &before_segv, nullptr);
}

bool watch_for_failed_accesses() {
  struct sigaction action {};
  action.sa_sigaction = on_failed_access;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  return ::sigaction(SIGBUS, &action, &before_bus) == 0 &&
         ::sigaction(SIGSEGV, &action, &before_segv) == 0;
}

bool is_watched() {
  static const bool watched = watch_for_failed_accesses();
  return watched;
}

template <class Action>
bool ends_guarded(std::uintptr_t begin, std::uintptr_t end, const Action& action) {
  if (sigsetjmp(guarded.stopped, 0) != 0) {
    guarded.begin = guarded.end = 0;
    return false;
  }
  guarded.begin = begin;
  guarded.end = end;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  action();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guarded.begin = guarded.end = 0;
  return true;
}

#ifdef __SANITIZE_THREAD__  // sanitizer's memcpy delays signals, so the kernel copies
bool copied_whole(std::byte* to, const std::byte* from, std::size_t bytes) {
  const iovec target{to, bytes};
  const iovec origin{const_cast<std::byte*>(from), bytes};
  return ::process_vm_readv(::getpid(), &target, 1, &origin, 1, 0) == static_cast<ssize_t>(bytes);
}
#else
bool copied_whole(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  return ends_guarded(begin, begin + bytes, [&] { std::memcpy(to, from, bytes); });
}
#endif

}  // namespace

bool call_guarded(const std::function<void()>& call) {
  return is_watched() && ends_guarded(0, std::numeric_limits<std::uintptr_t>::max(), call);
}

void give_up_guarded() {
  if (guarded.end != 0) siglongjmp(guarded.stopped, 1);
}

std::size_t copy_guarded(std::span<std::byte> to, const std::byte* from) {
  if (!is_watched()) return 0;
  if (copied_whole(to.data(), from, to.size())) return to.size();
  // Page by page up to the one that is missing.
  std::size_t done = 0;
  while (done < to.size()) {
    const std::size_t page_offset = (reinterpret_cast<std::uintptr_t>(from) + done) % kPage;
    const std::size_t piece = std::min(kPage - page_offset, to.size() - done);
    if (!copied_whole(to.data() + done, from + done, piece)) break;
    done += piece;
  }
  return done;
}

}  // namespace loaderscope::source
