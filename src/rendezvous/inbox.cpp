#include "rendezvous/inbox.h"

#include <utility>

namespace loaderscope {
namespace {

constexpr std::size_t kLength = 4, kHeader = kLength + 1;

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

void append_number(std::string& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t i = size; i-- > 0;) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
}

}  // namespace

std::string framed(MessageKind kind, std::string_view bytes) {
  std::string message;
  message.reserve(kHeader + bytes.size());
  append_number(message, bytes.size(), kLength);
  message += static_cast<char>(kind);
  return message.append(bytes);
}

std::string packed(std::int64_t first, std::int64_t second) {
  std::string bytes;
  append_number(bytes, static_cast<std::uint64_t>(first), 8);
  append_number(bytes, static_cast<std::uint64_t>(second), 8);
  return bytes;
}

std::optional<Numbers> unpacked(const std::string& bytes) {
  if (bytes.size() != 16) return std::nullopt;
  return Numbers{static_cast<std::int64_t>(number_at(bytes, 0, 8)),
                 static_cast<std::int64_t>(number_at(bytes, 8, 8))};
}

std::size_t Inbox::room() const {
  const std::size_t most = kHeader + longest_;
  return held() < most ? most - held() : 0;
}

void Inbox::add(std::string_view bytes) {
  // No more is moved than was taken before.
  if (at_ > 0 && at_ >= held()) {
    moved_ += held();
    bytes_.erase(0, std::exchange(at_, 0));
  }
  bytes_.append(bytes);
}

std::optional<std::size_t> Inbox::size_of_next() const {
  if (held() < kHeader) return std::nullopt;
  return number_at(bytes_, at_, kLength);
}

bool Inbox::is_too_long() const {
  const std::optional<std::size_t> size = size_of_next();
  return size && *size > longest_;
}

std::optional<Message> Inbox::next() {
  const std::optional<std::size_t> size = size_of_next();
  if (!size || *size > longest_ || held() < kHeader + *size) return std::nullopt;
  Message message{static_cast<MessageKind>(bytes_[at_ + kLength]), ""};
  if (bytes_.size() == kHeader + *size) {  // a record is not there twice
    message.bytes = std::exchange(bytes_, "");
    message.bytes.erase(0, kHeader);
    return message;
  }
  message.bytes = bytes_.substr(at_ + kHeader, *size);
  at_ += kHeader + *size;
  if (held() == 0) {
    bytes_.clear();
    at_ = 0;
  }
  return message;
}

}  // namespace loaderscope
