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
  explicit Connection(Fd socket);  // which it sets up

  int fd() const { return socket_; }
  // False where the other end is gone, or takes nothing for a while, so many times; amid a message
  // that ends the connection. From any thread.
  bool send(MessageKind kind, const std::string& bytes = "", int times = 1);
  // Reads what is there. False where the other end is gone, or sends what is no message.
  bool receive();
  std::optional<Message> next() { return inbox_.next(); }  // of what was read
  Nanos heard_at() const { return heard_at_; }
  bool is_amid_message() const { return inbox_.is_amid_message(); }
  // The largest message that it may send from now on; kMaxOfStranger at first.
  void allow(std::size_t longest) { inbox_.allow(longest); }
  bool is_too_long() const { return inbox_.is_too_long(); }  // what comes

 private:
  Fd socket_;
  std::mutex sending_;
  Inbox inbox_;
  Nanos heard_at_;
};

// Not 0: whoever waits is to end.
using StopSignal = std::atomic<int>;

// Throw RunError. Listen at those of `addresses` that are this host's own, and at port 0 of any
// that is free. They are all addresses of this host if others may know it by an address that this
// host does not: as where a name is its loopback's alone (127.0.1.1 in Debian's /etc/hosts), or is
// of a service that forwards.
std::vector<Fd> listen_at(const std::vector<std::string>& addresses, std::uint16_t port);
Fd listen_everywhere(std::uint16_t port);  // 0: any that is free
std::uint16_t port_of(int listener);
// At the first of its addresses that answers.
Fd connect_to(const std::vector<std::string>& addresses, std::uint16_t port, Nanos until,
              const StopSignal* stop = nullptr);
// As many connections at once as there are processes.
void allow_connections(std::int64_t processes);

}  // namespace loaderscope
