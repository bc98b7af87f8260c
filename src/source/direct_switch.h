// O_DIRECT for the files of one reader.
#pragma once

#include "source/read_progress.h"
#include "source/readers.h"

namespace loaderscope::source {

// A file that refuses is read through the page cache, and the source counts it.
class DirectSwitch {
 public:
  explicit DirectSwitch(const FileSource& source) : source_(source) {}

  // How to read `file`, past the page cache where that is possible.
  ReadProgress begin(const OpenFile& file);
  // After the kernel has refused a read with O_DIRECT.
  ReadProgress begin_cached(const OpenFile& file);

 private:
  std::size_t alignment_of(const OpenFile& file);

  const FileSource& source_;
  dev_t device_ = 0;  // of the last file
  std::size_t alignment_ = 0;
  bool knows_device_ = false;
};

}  // namespace loaderscope::source
