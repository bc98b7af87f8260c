#include "guest/host/guest_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "guest/protocol/descriptor.h"
#include "guest/protocol/message_kinds.h"
#include "machine/proc_file.h"

namespace loaderscope::guest {

GuestProcess::~GuestProcess() {
  if (page_ != nullptr) ::munmap(page_, Page::bytes());
  disconnect();
}

void GuestProcess::disconnect() {
  if (line_ >= 0) ::close(std::exchange(line_, -1));
}

bool GuestProcess::ended() const { return line_ < 0 && (page_ == nullptr || !is_running(id())); }

std::optional<std::string> GuestProcess::listen() {
  static thread_local std::string buffer(kMaxMessage, '\0');
  while (line_ >= 0) {
    Received received = receive_with_descriptor(line_, buffer);
    const ssize_t length = received.length;
    if (page_ == nullptr && received.descriptor >= 0) memory_ = std::move(received.descriptor);
    if (length > 0) return buffer.substr(0, static_cast<std::size_t>(length));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    disconnect();
  }
  return std::nullopt;
}

// Memory that the process could cut off would be a SIGBUS here.
bool GuestProcess::take_page() {
  constexpr int kSealed = F_SEAL_SHRINK | F_SEAL_GROW;
  const Fd memory = std::move(memory_);
  struct stat status {};
  if (memory < 0 || ::fstat(memory, &status) != 0 ||
      status.st_size != static_cast<off_t>(Page::bytes()))
    return false;
  const int seals = ::fcntl(memory, F_GET_SEALS);
  if (seals < 0 || (seals & kSealed) != kSealed) return false;
  void* place = ::mmap(nullptr, Page::bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (place == MAP_FAILED) return false;
  auto* page = static_cast<Page*>(place);
  if (page->version == Page::kVersion) {
    page_ = page;
  } else {
    ::munmap(place, Page::bytes());
  }
  return page_ != nullptr;
}

void GuestProcess::ask_to_stop() {
  if (page_ != nullptr) page_->stop.store(Page::kStop, std::memory_order_relaxed);
}

void GuestProcess::time_stages(bool on) {
  if (page_ != nullptr) page_->timing.store(on ? 1 : 0, std::memory_order_relaxed);
}

// The process may have written over the counts too.
std::int64_t GuestProcess::lost() const {
  constexpr std::int64_t kMax = std::int64_t{1} << 32;
  if (page_ == nullptr) return 0;
  const PageRings rings(*page_);
  std::int64_t lost = is_distrusted_ ? 1 : 0;
  for (const std::int64_t ring_lost : {rings.facts.lost(), rings.spans.lost(), rings.gpu.lost()})
    lost += std::clamp<std::int64_t>(ring_lost, 0, kMax);
  return lost;
}

}  // namespace loaderscope::guest
