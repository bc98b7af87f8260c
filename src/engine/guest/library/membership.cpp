#include "engine/guest/library/membership.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace loaderscope::guest {
namespace {

int connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof(address.sun_path)) return -ENAMETOOLONG;
  std::strcpy(address.sun_path, path);
  const int line = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (line < 0) return -errno;
  if (::connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return line;
  const int error = errno;
  ::close(line);
  return -error;
}

// The descriptor that the host answers with, or -errno.
int receive_descriptor(int line) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t length = 0;
  do {
    length = ::recvmsg(line, &message, MSG_CMSG_CLOEXEC);
  } while (length < 0 && errno == EINTR);
  if (length < 0) return -errno;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -EPROTO;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
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
  const int line = connect_to(socket_path);
  if (line < 0) return -line;
  socket_ = line;
  identity_ = identity_of(line);
  say(hello);
  const int descriptor = receive_descriptor(line);
  Page* page = descriptor < 0 ? nullptr : map_page(descriptor);
  const int error = descriptor < 0 ? -descriptor : errno;
  if (descriptor >= 0) ::close(descriptor);
  if (page != nullptr && page->version == Page::kVersion) {
    page_ = page;
    return 0;
  }
  ::close(std::exchange(socket_, -1));
  return page == nullptr ? error : EPROTO;
}

bool Membership::has_line() const { return socket_ >= 0 && identity_of(socket_) == identity_; }

void Membership::say(const char* message) const {
  if (!has_line()) return;
  while (::send(socket_, message, std::strlen(message), MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void Membership::forget() {
  if (page_ != nullptr) ::munmap(std::exchange(page_, nullptr), Page::bytes());
  if (has_line()) ::close(socket_);
  socket_ = -1;
}

}  // namespace loaderscope::guest
