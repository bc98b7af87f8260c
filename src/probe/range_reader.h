// Parts of files, read as a loader would, and what of them the page cache has.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "probe/probed_data.h"

namespace loaderscope::probe {

enum class ReadMode : std::uint8_t { direct, cold, reading_on };

// Belongs to one thread. A file stays open while consecutive pieces are in it.
class RangeReader {
 public:
  explicit RangeReader(ReadMode way) : way_(way) {}
  // Returns the number of bytes. Throws RunError.
  Bytes read(const FileRange& piece);

 private:
  void open(const std::string& path);
  std::byte* room_for(std::size_t bytes);

  ReadMode way_;
  std::string path_;
  Fd file_;
  std::unique_ptr<std::byte, decltype(&std::free)> room_{nullptr, &std::free};
  std::size_t size_ = 0;
};

std::string why_not_direct(const FileRange& piece);  // "": it can be read past the page cache

// Lets the page cache forget them; whether it is proved that it has.
bool forget(const std::vector<FileRange>& pieces);

void open_and_close(const std::string& path);  // throws RunError

}  // namespace loaderscope::probe
