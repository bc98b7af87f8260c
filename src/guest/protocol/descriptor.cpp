#include "guest/protocol/descriptor.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace loaderscope::guest {
namespace {

// A message with room for a descriptor.
struct Envelope {
  explicit Envelope(std::span<char> message) : text{message.data(), message.size()} {
    header.msg_iov = &text;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;

  iovec text;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
};

}  // namespace

int send_with_descriptor(int line, std::string_view message, int descriptor) {
  Envelope envelope({const_cast<char*>(message.data()), message.size()});  // is only read
  cmsghdr* part = CMSG_FIRSTHDR(&envelope.header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(line, &envelope.header, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

Received receive_with_descriptor(int line, std::span<char> message) {
  Envelope envelope(message);
  Received received;
  received.length = ::recvmsg(line, &envelope.header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (received.length < 0) return received;
  const cmsghdr* part = CMSG_FIRSTHDR(&envelope.header);
  if (part == nullptr || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
    return received;
  const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t each = 0; each < count; ++each) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(part) + each * sizeof(int), sizeof descriptor);
    Fd taken(descriptor);  // closed where there are several: we send one
    if (count == 1) received.descriptor = std::move(taken);
  }
  return received;
}

}  // namespace loaderscope::guest
