// Messages over TCP.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "loaderscope/units.h"
#include "rendezvous/inbox.h"

namespace loaderscope {

class Connection {
 public:
  explicit Connection(Fd socket);  // sets the options of `socket`

  int fd() const { return socket_; }
  // Returns false if the peer closed the connection, or accepted no data for `times` timeouts. A
  // failure in the middle of a message closes the connection. Callable from any thread.
  bool send(MessageKind kind, const std::string& bytes = "", int times = 1);
  // Reads what is there. False where the other end is gone, or sends what is no message.
  bool receive();
  std::optional<Message> next() { return inbox_.next(); }  // next of the messages that were read
  Nanos heard_at() const { return heard_at_; }
  bool is_amid_message() const { return inbox_.is_amid_message(); }
  // The largest message that it may send from now on; kMaxOfStranger at first.
  void allow(std::size_t longest) { inbox_.allow(longest); }
  bool is_too_long() const { return inbox_.is_too_long(); }  // the next message

 private:
  Fd socket_;
  std::mutex sending_;
  Inbox inbox_;
  Nanos heard_at_;
};

// Not 0: waits must end.
using StopSignal = std::atomic<int>;

// Both throw RunError. listen_at() listens at those of `addresses` that are this host's own, and at
// a free port if `port` is 0. It listens at all addresses of this host if others may know the host
// by an address that it does not know itself. Examples are a name that only the loopback has
// (127.0.1.1 in Debian's /etc/hosts), and a service that forwards.
std::vector<Fd> listen_at(const std::vector<std::string>& addresses, std::uint16_t port);
Fd listen_everywhere(std::uint16_t port);  // 0: any that is free
std::uint16_t port_of(int listener);
// Connects to the first of `addresses` that answers.
Fd connect_to(const std::vector<std::string>& addresses, std::uint16_t port, Nanos until,
              const StopSignal* stop = nullptr);
// Raises the limit of open files to one connection per process.
void allow_connections(std::int64_t processes);

}  // namespace loaderscope
