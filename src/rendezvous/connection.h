// Messages over TCP.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "loaderscope/units.h"

namespace loaderscope {

// Messages of one connection: a length of four bytes, a kind, bytes.
enum class MessageKind : std::uint8_t {
  hello,    // first message of a process: a number used once
  refusal,  // reason why it cannot take part; "": it does not know the token
  welcome,  // all have come
  ping,
  pong,
  clocked,  // result: its clock is compared
  go,       // all clocks are
  ready,    // for a step, on process 0's clock
  begin,    // time at which a step begins
  window,   // steps that the job's first rank has folded, and the first that it measures
  over,     // the steps of the job
  lost,     // reason why the job cannot continue
  give,     // the record, now
  record,
  thanks,        // receipt of the record: the process can end
  beat,          // sign of life, and a number that changes with progress
  challenge,     // process 0's number used once
  proof,         // proof of the token, with the place in the job that it claims
  accepted,      // and process 0's proof
  introduction,  // description of an accepted process: its version, settings and so on
};

struct Message {
  MessageKind kind = MessageKind::beat;
  std::string bytes;
};

// Returns the bytes of a message on the connection.
std::string framed(MessageKind kind, std::string_view bytes);

// Numbers in the order of the network.
std::string packed(std::int64_t first, std::int64_t second = 0);
struct Numbers {
  std::int64_t first = 0, second = 0;
};
std::optional<Numbers> unpacked(const std::string& bytes);

// The largest message, in bytes, by what the other end may send at the moment.
constexpr std::size_t kMaxOfStranger = 1024;
constexpr std::size_t kMaxWord = std::size_t{64} << 10;  // limit for members
// An introduction names all sources of the data.
constexpr std::size_t kMaxIntroduction = std::size_t{4} << 20;
// A record of some two million steps.
constexpr std::size_t kMaxRecord = std::size_t{1} << 30;

// Bytes that have arrived, until they are taken as messages. It holds one message of the largest
// size at most. The work is proportional to the bytes, whatever the size of the messages.
class Inbox {
 public:
  void allow(std::size_t longest) { longest_ = longest; }
  std::size_t room() const;  // bytes that `add` may get
  void add(std::string_view bytes);
  std::optional<Message> next();
  bool is_too_long() const;  // the message that is next
  bool has_partial_message() const { return held() > 0; }
  std::size_t moved() const { return moved_; }  // bytes, to make room

 private:
  std::size_t held() const { return bytes_.size() - at_; }
  std::optional<std::size_t> size_of_next() const;

  std::string bytes_;
  std::size_t at_ = 0;  // offset of the next message
  std::size_t longest_ = kMaxOfStranger;
  std::size_t moved_ = 0;
};

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
  Nanos received_at() const { return received_at_; }
  bool has_partial_message() const { return inbox_.has_partial_message(); }
  // The largest message that it may send from now on; kMaxOfStranger at first.
  void allow(std::size_t longest) { inbox_.allow(longest); }
  bool is_too_long() const { return inbox_.is_too_long(); }  // the next message

 private:
  Fd socket_;
  std::mutex sending_;
  Inbox inbox_;
  Nanos received_at_;
};

// Not 0: waits must end.
using StopSignal = std::atomic<int>;

// Both throw RunError. listen_at() listens at those of `addresses` that are this host's own, and at
// a free port if `port` is 0. It listens at all addresses of this host if others may know the host
// by an address that it does not know itself. Examples are a name that only the loopback has
// (127.0.1.1 in Debian's /etc/hosts), and a service that forwards.
std::vector<Fd> listen_at(const std::vector<std::string>& addresses, std::uint16_t port);
Fd listen_everywhere(std::uint16_t port);  // 0: any that is free
std::uint16_t listening_port(int listener);
// Connects to the first of `addresses` that answers.
Fd connect_to(const std::vector<std::string>& addresses, std::uint16_t port, Nanos until,
              const StopSignal* stop = nullptr);
// Raises the limit of open files to one connection per process.
void allow_connections(std::int64_t processes);

}  // namespace loaderscope
