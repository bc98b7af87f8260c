// `data info`: what is in a data set.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataset/image_facts.h"
#include "loaderscope/decode.h"
#include "loaderscope/run_record.h"
#include "loaderscope/units.h"

namespace loaderscope::dataset {

struct InfoProgress {
  std::int64_t files = 0;  // or samples, looked at so far; how many there are is not known
  Bytes bytes = 0;
};

// One image as it was seen.
struct SeenImage {
  std::string name;   // within the folder, or as its source calls it
  std::string group;  // the folder in the folder, "" without one
  ImageFacts facts;
  Bytes size = 0;
  bool is_damaged = false;
};

struct InfoContext {
  const std::atomic<int>* stop_signal = nullptr;  // not 0: return what was seen so far
  std::function<void(const InfoProgress&)> on_progress;
  // Given: every image is decoded, by one decoder per thread, and every array read. Otherwise
  // headers and lengths are checked.
  std::function<std::unique_ptr<Decoder>()> make_decoder;
  int threads = 0;                          // 0: one per core
  std::function<void(SeenImage)> on_image;  // may be empty; from any thread
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

// How far orders are from shuffled ones, see ShuffleQuality.
struct OrderMixing {
  double distance = 0, by_chance = 0;
};

// How well streams mix what lies side by side, by where stored neighbours come in a stream.
struct ShuffleQuality {
  std::int64_t streams = 0;  // all of an epoch together
  double distance = 0;       // of their distances' distribution from a uniform shuffle's: 0 to 1
  double by_chance = 0;      // a uniform one has less, but once in a thousand
  double apart = 0;          // samples between neighbours, median
  double uniform_apart = 0;  // of a uniform one
  Bytes memory = 0;          // of one stream's buffer, about
  // Of what a rank sees whose workers these are: batches of theirs in turns.
  std::optional<OrderMixing> rank = std::nullopt;
  // Of an epoch by the places that its samples had in the one before.
  std::optional<OrderMixing> epochs = std::nullopt;
};
using SampleOrder = std::vector<std::int64_t>;  // by a number that counts up where they lie
// `orders`: of each stream the samples as they came; `again`: those of the first one an epoch
// later.
std::optional<ShuffleQuality> shuffle_quality(const std::vector<SampleOrder>& orders,
                                              const SampleOrder& again = {});

struct DatasetInfo {
  std::string path;
  std::string format = "files";  // the row of its source
  bool checked = false;          // decoded, not only looked at
  bool interrupted = false;      // there is more
  Nanos index = 0;               // until it is known where every sample lies, without a kept index
  std::int64_t samples = 0;      // of arrays, which have no images
  std::string layout;            // of each of them: "(3, 224, 224) of <f4"
  std::int64_t objects = 0;      // files, where each holds several samples
  Measure object_bytes;          // of them
  Bytes stored = 0;              // of all of them
  std::vector<std::string> notes;         // of the source
  std::optional<ShuffleQuality> shuffle;  // of what is streamed
  std::int64_t images = 0, damaged = 0, other_files = 0;
  std::int64_t unreadable_folders = 0;
  Bytes bytes = 0;  // of the images that are not damaged, as all below
  std::int64_t pixels = 0;
  Measure stored_bytes, widths, heights;
  Measure aspects;    // width to height, in thousandths
  Measure qualities;  // of JPEG images, as libjpeg counts them
  std::map<std::string, std::int64_t, std::less<>> formats, subsamplings;
  std::int64_t progressive = 0;
  std::map<std::string, std::int64_t, std::less<>>
      classes;                             // folders in `path`, or what its samples say
  std::vector<DamagedFile> first_damaged;  // in the order of their paths
  static constexpr std::size_t kNamed = 10;

  void merge(const DatasetInfo& other);
  void name_damaged(DamagedFile file);
};

// Of a folder of image files.
DatasetInfo inspect_folder(const std::string& path, const InfoContext& context);

// `data`: as --data has it. Of a folder of images it finds the files that a run finds, links
// included, and those beside them; of what lies in shards and arrays the samples. Takes memory for
// their names. Throws RunError when it cannot be read, UsageError for words that mean nothing.
DatasetInfo inspect_dataset(const std::string& data, const InfoContext& context);

}  // namespace loaderscope::dataset
