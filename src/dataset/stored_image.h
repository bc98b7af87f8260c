// The bytes of one image in any storage.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/units.h"
#include "source/store.h"

namespace loaderscope::dataset {

// Image in a file, from an offset, in an object of a server, or in memory.
struct StoredImage {
  int fd = -1;  // -1: memory
  Bytes begin = 0, size = 0;
  int error = 0;  // errno of a read
  std::span<const std::byte> bytes;
  std::vector<std::byte>& buffer;             // destination of reads
  source::StoredObject* of_server = nullptr;  // used in place of `fd` and of memory

  // Returns up to `count` bytes from `offset`, valid until the next call. Fewer at the end, or
  // after an error. Throws ValueError if a server fails.
  std::span<const std::byte> read(Bytes offset, std::size_t count);
};

int opened_file(const std::string& path);  // -1 with errno
// Returns `error`, the cause of a failed open. Throws RunError if a resource of the machine ran
// out, which is not a fault of the file.
int cause_of(const std::string& path, int error);

}  // namespace loaderscope::dataset
