#include "guest/host/member.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "guest/protocol/descriptor.h"
#include "guest/protocol/message_kinds.h"
#include "machine/process_stat.h"

namespace loaderscope::guest {
namespace {

bool is_running(pid_t pid) {
  const auto stat = read_process_stat("/proc/" + std::to_string(pid));
  return stat && !stat->has_ended();
}

}  // namespace

Member::~Member() {
  if (page_ != nullptr) ::munmap(page_, Page::bytes());
  hang_up();
}

void Member::hang_up() {
  if (line_ >= 0) ::close(std::exchange(line_, -1));
}

bool Member::ended() const { return line_ < 0 && (page_ == nullptr || !is_running(pid)); }

std::optional<std::string> Member::listen() {
  static thread_local std::string buffer(kLongestMessage, '\0');
  while (line_ >= 0) {
    const ssize_t length = ::recv(line_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (length > 0) return buffer.substr(0, static_cast<std::size_t>(length));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    hang_up();
  }
  return std::nullopt;
}

// Sealed: what the process could cut off would be a SIGBUS here.
bool Member::give_page() {
  const int memory = ::memfd_create("loaderscope", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return false;
  void* place = MAP_FAILED;
  if (::ftruncate(memory, static_cast<off_t>(Page::bytes())) == 0 &&
      ::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    place = ::mmap(nullptr, Page::bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  }
  Page* page = place == MAP_FAILED ? nullptr : Page::make(place);
  const bool sent = page != nullptr && send_descriptor(line_, memory);
  ::close(memory);
  if (sent) {
    page_ = page;
  } else if (page != nullptr) {
    ::munmap(page, Page::bytes());
  }
  return sent;
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
