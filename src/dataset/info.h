// `data info`: what is in a folder of images.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "loaderscope/decode.h"
#include "loaderscope/run_record.h"
#include "loaderscope/units.h"

namespace loaderscope::dataset {

struct InfoProgress {
  std::int64_t files = 0;  // looked at so far; how many there are is not known
  Bytes bytes = 0;
};

struct InfoContext {
  const std::atomic<int>* stop_signal = nullptr;  // not 0: return what was seen so far
  std::function<void(const InfoProgress&)> on_progress;
  // Given: every image is decoded, by one decoder per thread. Otherwise headers and lengths are
  // checked.
  std::function<std::unique_ptr<Decoder>()> make_decoder;
  int threads = 0;  // 0: one per core
};

// Smallest and largest, and between them a histogram within 1 %.
struct Measure {
  std::int64_t least = 0, most = 0;
  Histogram histogram;

  void add(std::int64_t value);
  void merge(const Measure& other);
};

struct DamagedFile {
  std::string path, cause;
};

struct DatasetInfo {
  std::string path;
  bool checked = false;      // decoded, not only looked at
  bool interrupted = false;  // there is more
  std::int64_t images = 0, damaged = 0, other_files = 0;
  std::int64_t unreadable_folders = 0;
  Bytes bytes = 0;  // of the images that are not damaged, as all below
  std::int64_t pixels = 0;
  Measure stored_bytes, widths, heights;
  std::map<std::string, std::int64_t, std::less<>> formats, subsamplings;
  std::int64_t progressive = 0;
  std::map<std::string, std::int64_t, std::less<>> classes;  // folders in `path`; empty when flat
  std::vector<DamagedFile> first_damaged;                    // in the order of their paths
  static constexpr std::size_t kNamed = 10;

  void merge(const DatasetInfo& other);
  void name_damaged(DamagedFile file);
};

// Finds the files that a run finds, links included. Takes memory for their names. Throws RunError
// when `path` is no folder that can be read.
DatasetInfo inspect_dataset(const std::string& path, const InfoContext& context);

}  // namespace loaderscope::dataset
