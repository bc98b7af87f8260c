// Files that hold several samples, byte by byte as their libraries write them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace loaderscope::source {

// As numpy.save writes it, version 1.0.
inline std::string npy_bytes(std::string_view type, std::string_view shape, std::string_view rows,
                             std::string_view order = "False") {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, order, shape);
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += {'\1', '\0', static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  return bytes.append(header).append(rows);
}

// As Python's tarfile writes it, in the ustar format.
class TarBytes {
 public:
  TarBytes& add(std::string_view name, std::string_view content, char type = '0') {
    std::string block(512, '\0');
    const auto put = [&block](std::size_t at, std::string_view text) {
      block.replace(at, text.size(), text);
    };
    put(0, name.substr(0, 100));
    put(100, "0000644\0");
    put(124, fmt::format("{:011o}", content.size()));
    put(148, "        ");
    block[156] = type;
    put(257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (const char byte : block) sum += static_cast<unsigned char>(byte);
    put(148, fmt::format("{:06o}", sum) + '\0');
    bytes_ += block;
    bytes_ += content;
    bytes_.resize((bytes_.size() + 511) / 512 * 512);
    return *this;
  }
  std::string finish() const { return bytes_ + std::string(1024, '\0'); }
  const std::string& unfinished() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace loaderscope::source
