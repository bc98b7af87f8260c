#include "dataset/shard_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kHeld = std::size_t{1} << 20;
constexpr std::size_t kLongestName = 100;
constexpr Bytes kLargestMember = (Bytes{1} << 33) - 1;  // eleven octal digits

using Header = std::array<char, kBlock>;

void put(Header& header, std::size_t at, std::string_view text) {
  std::memcpy(header.data() + at, text.data(), text.size());
}

// POSIX's ustar.
Header header_of(std::string_view name, std::size_t size) {
  Header header{};
  put(header, 0, name);
  put(header, 100, "0000444");
  put(header, 108, "0000000");
  put(header, 116, "0000000");
  put(header, 124, fmt::format("{:011o}", size));
  put(header, 136, "00000000000");
  put(header, 148, "        ");  // the checksum counts as blanks
  put(header, 156, "0");
  put(header, 257, "ustar");
  put(header, 263, "00");
  const unsigned sum = std::accumulate(header.begin(), header.end(), 0u, [](unsigned all, char c) {
    return all + static_cast<unsigned char>(c);
  });
  put(header, 148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  return header;
}

constexpr std::array<std::byte, kBlock> kNothing{};

}  // namespace

void ShardWriter::add(std::string_view name, std::span<const std::byte> bytes) {
  if (name.empty() || name.size() > kLongestName || std::ssize(bytes) > kLargestMember)
    throw RunError(shown_text(name) + ": does not fit into a tar header; leave the sample out");
  const Header header = header_of(name, bytes.size());
  append(std::as_bytes(std::span(header)));
  append(bytes);
  append(std::span(kNothing).first((kBlock - bytes.size() % kBlock) % kBlock));
}

void ShardWriter::finish() {
  append(kNothing);
  append(kNothing);
  flush();
  file_.finish();
}

void ShardWriter::append(std::span<const std::byte> bytes) {
  bytes_ += std::ssize(bytes);
  if (held_.size() + bytes.size() > kHeld) flush();
  if (bytes.size() > kHeld) {
    file_.append(bytes);
    return;
  }
  held_.insert(held_.end(), bytes.begin(), bytes.end());
}

void ShardWriter::flush() {
  file_.append(held_);
  held_.clear();
}

}  // namespace loaderscope::dataset
