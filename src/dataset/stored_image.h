// The bytes of one image, wherever they lie.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/units.h"
#include "source/store.h"

namespace loaderscope::dataset {

// Of a file, from some place on, of an object of a server, or of memory.
struct StoredImage {
  int fd = -1;  // -1: memory
  Bytes begin = 0, size = 0;
  int error = 0;  // errno of a read
  std::span<const std::byte> bytes;
  std::vector<std::byte>& buffer;             // that reads go to
  source::StoredObject* of_server = nullptr;  // in place of `fd` and of memory

  // Up to `count` bytes from `offset`, until the next call; fewer at the end, or after an error.
  // Throws ValueError where a server gives them not.
  std::span<const std::byte> read(Bytes offset, std::size_t count);
};

int opened_file(const std::string& path);  // -1 with errno
// Why a file cannot be opened: `error`. What the machine has too little of is no fault of the file:
// throws RunError.
int cause_of(const std::string& path, int error);

}  // namespace loaderscope::dataset
