#include "guest/protocol/descriptor.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace loaderscope::guest {
namespace {

// A message of one byte, which has room for a descriptor beside it.
struct DescriptorMessage {
  DescriptorMessage() {
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;

  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
};

}  // namespace

bool send_descriptor(int line, int descriptor) {
  DescriptorMessage message;
  cmsghdr* beside = CMSG_FIRSTHDR(&message.header);
  beside->cmsg_level = SOL_SOCKET;
  beside->cmsg_type = SCM_RIGHTS;
  beside->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(beside), &descriptor, sizeof descriptor);
  return ::sendmsg(line, &message.header, MSG_NOSIGNAL) == 1;
}

int receive_descriptor(int line) {
  DescriptorMessage message;
  ssize_t length = 0;
  do {
    length = ::recvmsg(line, &message.header, MSG_CMSG_CLOEXEC);
  } while (length < 0 && errno == EINTR);
  if (length < 0) return -errno;
  if ((message.header.msg_flags & MSG_CTRUNC) != 0) return -EMFILE;  // none was left for it
  const cmsghdr* beside = CMSG_FIRSTHDR(&message.header);
  if (beside == nullptr || beside->cmsg_type != SCM_RIGHTS) return -EPROTO;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(beside), sizeof descriptor);
  return descriptor;
}

}  // namespace loaderscope::guest
