// The blocks of a tar file: ustar, with the long names and sizes of GNU tar and of pax.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <numeric>
#include <span>

#include "loaderscope/errors.h"
#include "source/tar.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kBlockBytes = kTarBlock;
constexpr Bytes kMaxText = 1 << 20;

std::string_view until_zero(std::string_view field) { return field.substr(0, field.find('\0')); }

// Parses octal digits. For large numbers, the first bit is set, and the number follows it.
std::optional<Bytes> parse_number(std::string_view field) {
  if ((field[0] & '\x80') != 0) {
    Bytes value = field[0] & '\x7f';
    for (const char byte : field.substr(1)) {
      if (value >> 54 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(byte);
    }
    return value;
  }
  const auto first = field.find_first_not_of(' ');
  if (first == field.npos) return 0;
  Bytes value = 0;
  const std::string_view digits = until_zero(field.substr(first));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (digits.empty()) return 0;
  return error == std::errc() && value >= 0 ? std::optional(value) : std::nullopt;
}

// Calls look(key, value) for each pax record "LENGTH KEY=VALUE\n", in order.
template <class Look>
void each_pax_record(std::string_view records, const Look& look) {
  while (!records.empty()) {
    std::size_t length = 0;
    std::from_chars(records.data(), records.data() + records.size(), length);
    const auto space = records.find(' ');
    if (length > records.size() || space >= length || space + 1 >= length) break;
    const std::string_view record = records.substr(space + 1, length - space - 2);
    const auto equals = record.find('=');
    if (equals != record.npos) look(record.substr(0, equals), record.substr(equals + 1));
    records.remove_prefix(length);
  }
}

// The last one of this key; "" when there is none.
std::string_view pax_value(std::string_view records, std::string_view key) {
  std::string_view found;
  each_pax_record(records, [&](std::string_view each_key, std::string_view value) {
    if (each_key == key) found = value;
  });
  return found;
}

bool says_sparse(std::string_view records) {
  bool says = false;
  each_pax_record(records, [&](std::string_view key, std::string_view) {
    says = says || key.starts_with("GNU.sparse.");
  });
  return says;
}

}  // namespace

struct TarWalk::Header {
  std::array<char, kBlockBytes> bytes;
  Bytes size = 0;

  std::string_view field(std::size_t begin, std::size_t length) const {
    return std::string_view(bytes.data() + begin, length);
  }
  char type() const { return bytes[156]; }
  bool is_zero() const {
    return field(0, bytes.size()).find_first_not_of('\0') == std::string_view::npos;
  }
  // The checksum counts its own field as spaces.
  bool adds_up() const {
    long sum = 8L * ' ';
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i < 148 || i >= 156) sum += static_cast<unsigned char>(bytes[i]);
    }
    return parse_number(field(148, 8)) == sum;
  }
  std::string name() const {
    const std::string_view last = until_zero(field(0, 100)), first = until_zero(field(345, 155));
    const bool has_prefix = field(257, 6) == std::string_view("ustar\0", 6) && !first.empty();
    return has_prefix ? fmt::format("{}/{}", first, last) : std::string(last);
  }
};

void TarWalk::fail(const std::string& why) const { throw ValueError(why); }

// False at the end.
bool TarWalk::read_header(Header& header) {
  const std::size_t got = shard_.read(at_, std::as_writable_bytes(std::span(header.bytes)));
  if (got < kBlockBytes && at_ > 0) return false;
  if (got == kBlockBytes && header.is_zero()) return false;
  const std::optional<Bytes> size =
      got == kBlockBytes && header.adds_up() ? parse_number(header.field(124, 12)) : std::nullopt;
  if (!size)
    fail(at_ == 0 ? "is no tar file" : fmt::format("is damaged: no tar header at byte {}", at_));
  header.size = *size;
  at_ += static_cast<Bytes>(kBlockBytes);
  return true;
}

std::string TarWalk::read_text(Bytes size) {
  if (size > kMaxText) fail(fmt::format("is damaged: a name of {} bytes", size));
  std::string text(static_cast<std::size_t>(size), '\0');
  text.resize(shard_.read(at_, std::as_writable_bytes(std::span(text))));
  return text;
}

// Skips the part of GNU tar's own map that does not fit into the header.
void TarWalk::skip_sparse_map(const Header& header) {
  constexpr std::size_t kContinuation = 482, kFurtherContinuation = 504;  // bytes that say so
  bool continues = header.bytes[kContinuation] != '\0';
  while (continues) {
    std::array<char, kBlockBytes> block{};
    if (shard_.read(at_, std::as_writable_bytes(std::span(block))) < kBlockBytes) return;
    at_ += static_cast<Bytes>(kBlockBytes);
    continues = block[kFurtherContinuation] != '\0';
  }
}

std::optional<TarMember> TarWalk::next() {
  std::string long_name;
  std::optional<Bytes> long_size;
  bool is_sparse = false;
  Header header;
  while (read_header(header)) {
    const char type = header.type();
    const bool is_file = type == '0' || type == '\0' || type == '7' || type == 'S';
    if (type == 'S') {
      is_sparse = true;
      skip_sparse_map(header);
    }
    if (type == 'L') long_name = until_zero(read_text(header.size));
    if (type == 'x') {
      const std::string records = read_text(header.size);
      if (const auto path = pax_value(records, "path"); !path.empty()) long_name = path;
      if (const auto path = pax_value(records, "GNU.sparse.name"); !path.empty()) long_name = path;
      is_sparse = says_sparse(records);
      const auto text = pax_value(records, "size");
      Bytes size = 0;
      if (!text.empty() &&
          std::from_chars(text.data(), text.data() + text.size(), size).ec == std::errc())
        long_size = size;
    }
    const bool describes_next = type == 'L' || type == 'K' || type == 'x';
    const Bytes size = describes_next ? header.size : long_size.value_or(header.size);
    const Bytes begin = at_;
    if (size < 0 || size > (Bytes{1} << 60))
      fail(fmt::format("is damaged: no size at byte {}", at_));
    constexpr auto kUnit = static_cast<Bytes>(kBlockBytes);
    at_ += (size + kUnit - 1) / kUnit * kUnit;
    if (is_file)
      return TarMember{long_name.empty() ? header.name() : long_name, begin, size, is_sparse};
    if (!describes_next && type != 'g') {
      is_sparse = false;
      long_name.clear();
      long_size.reset();
    }
  }
  return std::nullopt;
}

}  // namespace loaderscope::source
