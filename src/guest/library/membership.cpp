#include "guest/library/membership.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "guest/protocol/descriptor.h"

namespace loaderscope::guest {
namespace {

// With a host that does not answer: it is stopped, or has too many files open. The program is not
// to wait for it.
constexpr timeval kPatience = {5, 0};

int connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof(address.sun_path)) return -ENAMETOOLONG;
  std::strcpy(address.sun_path, path);
  const int line = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (line < 0) return -errno;
  ::setsockopt(line, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  if (::connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return line;
  const int error = errno;
  ::close(line);
  return -error;
}

// 0: it is closed, or no socket.
ino_t identity_of(int descriptor) {
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode);
  return known ? status.st_ino : 0;
}

Page* map_page(int descriptor) {
  void* memory = ::mmap(nullptr, Page::bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Page*>(memory);
}

}  // namespace

int Membership::join(const char* socket_path, const char* hello) {
  if (page_ != nullptr) return 0;
  if (is_unanswered_) return EAGAIN;
  const int error = try_to_join(socket_path, hello);
  is_unanswered_ = error == EAGAIN;
  if (error != 0) leave();
  return error;
}

int Membership::try_to_join(const char* socket_path, const char* hello) {
  const int line = connect_to(socket_path);
  if (line < 0) return -line;
  socket_ = line;
  identity_ = identity_of(line);
  say(hello);
  const int descriptor = receive_descriptor(line);
  if (descriptor < 0) return -descriptor;
  Page* page = map_page(descriptor);
  const int error = errno;
  ::close(descriptor);
  if (page == nullptr) return error;
  page_ = page;
  rings_.emplace(*page);
  return page->version == Page::kVersion ? 0 : EPROTO;
}

bool Membership::must_stop() const {
  return page_ != nullptr && page_->stop.load(std::memory_order_relaxed) == Page::kStop;
}

bool Membership::timing_wanted() const {
  return page_ == nullptr || page_->timing.load(std::memory_order_relaxed) != 0;
}

void Membership::took(Nanos duration) {
  if (page_ == nullptr || duration <= 0) return;
  const auto before = page_->own.load(std::memory_order_relaxed);
  page_->own.store(before + duration, std::memory_order_relaxed);
}

bool Membership::has_line() const { return socket_ >= 0 && identity_of(socket_) == identity_; }

// One that the host has not taken in for so long is the last one.
void Membership::say(const char* message) {
  if (!has_line()) return;
  ssize_t sent = 0;
  do {
    sent = ::send(socket_, message, std::strlen(message), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0 && errno == EAGAIN) ::close(std::exchange(socket_, -1));
}

void Membership::leave() {
  rings_.reset();
  if (page_ != nullptr) ::munmap(std::exchange(page_, nullptr), Page::bytes());
  if (has_line()) ::close(socket_);
  socket_ = -1;
}

}  // namespace loaderscope::guest
