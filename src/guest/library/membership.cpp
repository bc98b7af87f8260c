#include "guest/library/membership.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fd.h"
#include "guest/protocol/descriptor.h"

namespace loaderscope::guest {
namespace {

constexpr int kAnswerTimeout = 5;  // ms for a host that has not yet taken in what was said
constexpr std::size_t kMaxUnsent = std::size_t{4} << 20;  // bytes

// The socket, or -errno: EAGAIN if too many processes wait to be taken in.
int connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof(address.sun_path)) return -ENAMETOOLONG;
  std::strcpy(address.sun_path, path);
  const int line = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (line < 0) return -errno;
  if (::connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return line;
  const int error = errno;
  ::close(line);
  return -error;
}

// 0: it is closed, or no socket.
ino_t read_inode(int descriptor) {
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode);
  return known ? status.st_ino : 0;
}

// Sealed: the host refuses memory that this process could cut off. -1: errno says why.
Fd make_memory() {
  Fd memory(::memfd_create("loaderscope", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (memory < 0 || ::ftruncate(memory, static_cast<off_t>(Page::bytes())) != 0 ||
      ::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return Fd();
  return memory;
}

// Growing a file past this limit sends the program a signal, which ends it.
bool may_be_as_large_as_page() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= Page::bytes();
}

Page* make_page(int memory) {
  void* place = ::mmap(nullptr, Page::bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  return place == MAP_FAILED ? nullptr : Page::make(place);
}

}  // namespace

int Membership::join(const char* socket_path, const char* hello) {
  if (page_ != nullptr) return 0;
  if (is_full_) return EAGAIN;
  const int error = try_to_join(socket_path, hello);
  is_full_ = error == EAGAIN;
  if (error != 0) leave();
  return error;
}

int Membership::try_to_join(const char* socket_path, const char* hello) {
  if (!may_be_as_large_as_page()) return EFBIG;
  const int line = connect_to(socket_path);
  if (line < 0) return -line;
  socket_ = line;
  identity_ = read_inode(line);
  const Fd memory = make_memory();
  if (memory < 0) return errno;
  page_ = make_page(memory);
  if (page_ == nullptr) return errno;
  rings_.emplace(*page_);
  return send_with_descriptor(line, hello, memory);
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

bool Membership::has_line() const { return socket_ >= 0 && read_inode(socket_) == identity_; }

void Membership::say(const char* message) {
  if (!has_line()) return;
  unsent_.emplace_back(message);
  unsent_bytes_ += unsent_.back().size();
  send_unsent();
  if (unsent_bytes_ > kMaxUnsent) ::close(std::exchange(socket_, -1));
}

void Membership::send_unsent() {
  while (!unsent_.empty()) {
    const std::string& next = unsent_.front();
    const ssize_t sent = ::send(socket_, next.data(), next.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      if (!wait_for_room()) return;
      continue;
    }
    is_slow_ = false;
    unsent_bytes_ -= next.size();
    unsent_.pop_front();  // also one that cannot be sent at all
  }
}

// Waits once each time that the host is late, because the caller may hold the interpreter lock.
bool Membership::wait_for_room() {
  if (std::exchange(is_slow_, true)) return false;
  pollfd line = {socket_, POLLOUT, 0};
  return ::poll(&line, 1, kAnswerTimeout) > 0;
}

void Membership::leave() {
  rings_.reset();
  unsent_.clear();
  unsent_bytes_ = 0;
  if (page_ != nullptr) ::munmap(std::exchange(page_, nullptr), Page::bytes());
  if (has_line()) ::close(socket_);
  socket_ = -1;
}

}  // namespace loaderscope::guest
