// Messages over TCP: a length, a kind, bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "loaderscope/units.h"

namespace loaderscope {

enum class MessageKind : std::uint8_t {
  hello,    // of a process that comes: who it is
  refusal,  // why it cannot take part
  welcome,  // all have come
  ping,
  pong,
  clocked,  // its clock is compared
  go,       // all clocks are
  ready,    // for a step, on process 0's clock
  begin,    // of a step
  window,   // steps that the job's first rank has folded, and the first that it measures
  over,     // the steps of the job
  lost,     // why the job cannot go on
  give,     // the record, now
  record,
  thanks,  // for the record: it can end
  beat,    // it lives, and a number that changes while it gets on
};

struct Message {
  MessageKind kind = MessageKind::beat;
  std::string bytes;
};

// Numbers in the order of the network.
std::string packed(std::int64_t first, std::int64_t second = 0);
struct Numbers {
  std::int64_t first = 0, second = 0;
};
std::optional<Numbers> unpacked(const std::string& bytes);

// Of a stranger: it names all sources of its data.
constexpr std::size_t kLongestHello = std::size_t{4} << 20;
// Of a member of the job: a record, of some two million steps.
constexpr std::size_t kLongestOfMember = std::size_t{1} << 30;

class Connection {
 public:
  explicit Connection(Fd socket);  // which it sets up

  int fd() const { return socket_; }
  // False where the other end is gone, or takes nothing for a while, so many times; amid a message
  // that ends the connection. From any thread.
  bool send(MessageKind kind, const std::string& bytes = "", int times = 1);
  // Reads what is there. False where the other end is gone, or sends what is no message.
  bool receive();
  std::optional<Message> next();  // of what was read
  Nanos heard_at() const { return heard_at_; }
  bool is_amid_message() const { return !read_.empty(); }
  void allow(std::size_t longest) { longest_ = longest; }
  bool is_too_long() const;  // what comes

 private:
  Fd socket_;
  std::mutex sending_;
  std::string read_;
  std::size_t longest_ = kLongestHello;
  Nanos heard_at_;
};

// Not 0: whoever waits is to end.
using StopSignal = std::atomic<int>;

// Throw RunError.
Fd listen_at(std::uint16_t port);  // 0: any that is free
std::uint16_t port_of(int listener);
// At the first of its addresses that answers.
Fd connect_to(const std::vector<std::string>& addresses, std::uint16_t port, Nanos until,
              const StopSignal* stop = nullptr);
// As many connections at once as there are processes.
void allow_connections(std::int64_t processes);

}  // namespace loaderscope
