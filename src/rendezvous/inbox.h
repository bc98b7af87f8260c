// Messages of one connection: a length of four bytes, a kind, bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace loaderscope {

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
  bool is_amid_message() const { return held() > 0; }
  std::size_t moved() const { return moved_; }  // bytes, to make room

 private:
  std::size_t held() const { return bytes_.size() - at_; }
  std::optional<std::size_t> size_of_next() const;

  std::string bytes_;
  std::size_t at_ = 0;  // offset of the next message
  std::size_t longest_ = kMaxOfStranger;
  std::size_t moved_ = 0;
};

}  // namespace loaderscope
