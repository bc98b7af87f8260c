#include "base/fd.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace loaderscope {

ReadAt read_at(int fd, Bytes offset, std::span<std::byte> to) {
  ReadAt read;
  while (read.bytes < to.size()) {
    const ssize_t got = ::pread(fd, to.data() + read.bytes, to.size() - read.bytes,
                                offset + static_cast<Bytes>(read.bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) read.error = errno;
    if (got <= 0) break;
    read.bytes += static_cast<std::size_t>(got);
  }
  return read;
}

std::string_view non_file_kind(const std::string& path) {
  using Type = std::filesystem::file_type;
  std::error_code none;
  if (std::filesystem::canonical(path, none) == "/dev/null") return "";  // an empty file
  switch (std::filesystem::status(path, none).type()) {
    case Type::directory:
      return "a folder";
    case Type::fifo:
      return "a pipe";
    case Type::block:
    case Type::character:
      return "a device";
    case Type::socket:
      return "a socket";
    default:
      return "";
  }
}

// Avoids an iterator over the stream's buffer, which would throw if a read fails.
std::string readable_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

}  // namespace loaderscope
