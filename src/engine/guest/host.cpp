#include "engine/guest/host.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "loaderscope/errors.h"

namespace loaderscope::guest {
namespace {

using nlohmann::json;

bool introduce(Member& member, const std::string& message) {
  const json hello = json::parse(message, nullptr, false);
  if (!hello.is_object()) return false;
  try {
    member.pid = hello.value("pid", 0);
    member.trainer = hello.value("trainer", 0);
    member.rank = hello.value("rank", -1);
    member.worker = hello.value("worker", 0);
    member.iterator = hello.value("iterator", -1);
    member.is_worker = hello.value("role", "") == "worker";
  } catch (const json::exception&) {
    return false;
  }
  return member.give_page();
}

}  // namespace

Host::Host(const std::string& socket_path)
    : socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
  constexpr int kWaiting = 1024;  // processes that knock at once
  if (socket_ < 0 ||
      ::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket_, kWaiting) != 0) {
    const std::string reason = std::strerror(errno);
    if (socket_ >= 0) ::close(socket_);
    throw RunError(socket_path + ": cannot listen: " + reason +
                   "; set TMPDIR to a folder of a local disk");
  }
}

Host::~Host() { ::close(socket_); }

void Host::take_in() {
  for (;;) {
    const int line = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (line < 0 && errno == EINTR) continue;
    if (line < 0) return;
    members_.push_back(std::make_unique<Member>(line));
  }
}

void Host::look(const OnMessage& on_message) {
  take_in();
  for (const auto& member : members_) {
    for (const std::string& message : member->listen()) {
      if (member->page() != nullptr) {
        on_message(*member, message);
      } else if (!introduce(*member, message)) {
        member->hang_up();
      } else {
        if (stopping_) member->ask_to_stop();
        member->time_stages(timing_);
      }
    }
  }
}

void Host::let_go(const std::function<bool(const Member&)>& is_done_with) {
  std::erase_if(members_, [&](const auto& member) {
    if (!member->ended() || !is_done_with(*member)) return false;
    lost_before_ += member->lost();
    return true;
  });
}

void Host::ask_to_stop() {
  stopping_ = true;
  for (const auto& member : members_) member->ask_to_stop();
}

void Host::time_stages(bool on) {
  if (on == timing_) return;
  timing_ = on;
  for (const auto& member : members_) member->time_stages(on);
}

std::int64_t Host::lost() const {
  std::int64_t lost = lost_before_;
  for (const auto& member : members_) lost += member->lost();
  return lost;
}

}  // namespace loaderscope::guest
