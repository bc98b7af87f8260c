#include "guest/host/guest_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "guest/host/message_contents.h"
#include "loaderscope/errors.h"
#include "machine/proc_file.h"

namespace loaderscope::guest {
namespace {

constexpr int kMessagesAtOnce = 256;  // messages of one member, so that the others get their turn

// False: it says nothing that makes sense.
bool introduce(Hello& member, const std::string& message) {
  try {
    member = parse_hello(message);
    member.started = process_id(member.pid).started;
  } catch (const nlohmann::json::exception&) {
    return false;
  } catch (const ValueError&) {
    return false;
  }
  return true;
}

// Reads the first message of a rejected process. It was sent immediately after connecting.
Hello first_words_on(int line) {
  constexpr int kAnswerTimeout = 10;  // ms
  GuestProcess member(line);
  pollfd words = {line, POLLIN, 0};
  ::poll(&words, 1, kAnswerTimeout);
  Hello who;
  const auto message = member.listen();
  if (!message || !introduce(who, *message)) return Hello();
  return who;
}

}  // namespace

GuestServer::GuestServer(const std::string& socket_path)
    : socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      spare_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
  constexpr int kWaiting = 1024;  // processes that knock at once
  if (socket_ < 0 ||
      ::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket_, kWaiting) != 0) {
    const std::string reason = std::strerror(errno);
    close();
    throw RunError(socket_path + ": cannot listen: " + reason,
                   "set TMPDIR to a folder of a local disk");
  }
}

GuestServer::~GuestServer() { close(); }

void GuestServer::close() {
  for (int* descriptor : {&socket_, &spare_}) {
    if (*descriptor >= 0) ::close(std::exchange(*descriptor, -1));
  }
  for (const auto& member : members_) member->disconnect();
}

void GuestServer::accept() {
  while (socket_ >= 0) {
    const int line = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (line >= 0) {
      members_.push_back(std::make_unique<GuestProcess>(line));
    } else if (errno == EMFILE || errno == ENFILE) {
      if (!reject()) return;
    } else if (errno != EINTR) {
      return;
    }
  }
}

// One that knocks. False where there is none, or it cannot be done.
bool GuestServer::reject() {
  if (spare_ < 0) return false;
  ::close(std::exchange(spare_, -1));
  const int line = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (line >= 0) note_turned_away(first_words_on(line));
  spare_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return line >= 0;
}

void GuestServer::note_turned_away(const Hello& who) {
  constexpr std::size_t kMax = 1024;
  if (turned_away_.size() < kMax)
    turned_away_.push_back({who.pid, who.is_worker, "loaderscope could not take it in"});
}

void GuestServer::look(const OnMessage& on_message) {
  accept();
  for (const auto& member : members_) receive_report(*member, on_message);
}

void GuestServer::receive_report(GuestProcess& member, const OnMessage& on_message) {
  for (int received = 0; received < kMessagesAtOnce; ++received) {
    const auto message = member.listen();
    if (!message) return;
    if (member.page() != nullptr) {
      on_message(member, *message);
    } else if (!introduce(member, *message) || !member.take_page()) {
      member.disconnect();
      note_turned_away(member);
    } else {
      if (stopping_) member.ask_to_stop();
      member.time_stages(timing_);
    }
  }
}

void GuestServer::release(const std::function<bool(const GuestProcess&)>& is_done_with) {
  std::erase_if(members_, [&](const auto& member) {
    if (!member->ended() || !is_done_with(*member)) return false;
    lost_before_ += member->lost();
    return true;
  });
}

void GuestServer::ask_to_stop() {
  stopping_ = true;
  for (const auto& member : members_) member->ask_to_stop();
}

void GuestServer::time_stages(bool on) {
  if (on == timing_) return;
  timing_ = on;
  for (const auto& member : members_) member->time_stages(on);
}

std::int64_t GuestServer::lost() const {
  std::int64_t lost = lost_before_;
  for (const auto& member : members_) lost += member->lost();
  return lost;
}

}  // namespace loaderscope::guest
