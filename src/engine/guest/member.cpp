#include "engine/guest/member.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "measure/process_stat.h"

namespace loaderscope::guest {
namespace {

constexpr std::size_t kLongestMessage = std::size_t{1} << 18;

bool send_descriptor(int line, int descriptor) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return ::sendmsg(line, &message, MSG_NOSIGNAL) == 1;
}

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

std::vector<std::string> Member::listen() {
  std::vector<std::string> messages;
  static thread_local std::string buffer(kLongestMessage, '\0');
  while (line_ >= 0) {
    const ssize_t length = ::recv(line_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (length <= 0) {
      hang_up();
      break;
    }
    messages.emplace_back(buffer.data(), static_cast<std::size_t>(length));
  }
  return messages;
}

bool Member::give_page() {
  const int memory = ::memfd_create("loaderscope", MFD_CLOEXEC);
  if (memory < 0) return false;
  void* place = MAP_FAILED;
  if (::ftruncate(memory, static_cast<off_t>(Page::bytes())) == 0) {
    place = ::mmap(nullptr, Page::bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  }
  if (place != MAP_FAILED) page_ = Page::make(place);
  const bool sent = page_ != nullptr && send_descriptor(line_, memory);
  ::close(memory);
  return sent;
}

void Member::ask_to_stop() {
  if (page_ != nullptr) page_->stop.store(1, std::memory_order_relaxed);
}

void Member::time_stages(bool on) {
  if (page_ != nullptr) page_->timing.store(on ? 1 : 0, std::memory_order_relaxed);
}

std::int64_t Member::lost() const { return page_ == nullptr ? 0 : page_->lost(); }

}  // namespace loaderscope::guest
