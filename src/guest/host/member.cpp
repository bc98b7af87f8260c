#include "guest/host/member.h"

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
#include "machine/process_stat.h"

namespace loaderscope::guest {

Member::~Member() {
  if (page_ != nullptr) ::munmap(page_, Page::bytes());
  hang_up();
}

void Member::hang_up() {
  if (line_ >= 0) ::close(std::exchange(line_, -1));
}

bool Member::ended() const { return line_ < 0 && (page_ == nullptr || !is_running(id())); }

std::optional<std::string> Member::listen() {
  static thread_local std::string buffer(kLongestMessage, '\0');
  while (line_ >= 0) {
    Received received = receive_with_descriptor(line_, buffer);
    const ssize_t length = received.length;
    if (page_ == nullptr && received.descriptor >= 0) memory_ = std::move(received.descriptor);
    if (length > 0) return buffer.substr(0, static_cast<std::size_t>(length));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    hang_up();
  }
  return std::nullopt;
}

// Memory that the process could cut off would be a SIGBUS here.
bool Member::take_page() {
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

void Member::ask_to_stop() {
  if (page_ != nullptr) page_->stop.store(Page::kStop, std::memory_order_relaxed);
}

void Member::time_stages(bool on) {
  if (page_ != nullptr) page_->timing.store(on ? 1 : 0, std::memory_order_relaxed);
}

// The process may have written over the counts too.
std::int64_t Member::lost() const {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  if (page_ == nullptr) return 0;
  const PageRings rings(*page_);
  std::int64_t lost = is_distrusted_ ? 1 : 0;
  for (const std::int64_t of_ring : {rings.facts.lost(), rings.spans.lost(), rings.gpu.lost()})
    lost += std::clamp<std::int64_t>(of_ring, 0, kMost);
  return lost;
}

}  // namespace loaderscope::guest
