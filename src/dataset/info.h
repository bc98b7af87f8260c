// `data info`: contents of a data set.
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

// Distance of orders from shuffled ones, as in ShuffleQuality.
struct OrderMixing {
  double distance = 0, chance_limit = 0;
};

// Quality of the shuffle of streams, measured by the distance of stored neighbours in a stream.
struct ShuffleQuality {
  std::int64_t streams = 0;  // all of an epoch together
  double distance = 0;  // distance of the neighbours' distribution from a uniform shuffle's: 0 to 1
  double chance_limit = 0;   // limit that a uniform shuffle exceeds once in a thousand times
  double apart = 0;          // samples between neighbours, median
  double uniform_apart = 0;  // value of a uniform shuffle
  Bytes memory = 0;          // bytes of one stream's buffer, approximate
  // Order that a rank sees if these streams are its workers: their batches alternate.
  std::optional<OrderMixing> rank = std::nullopt;
  // Order of an epoch, by the places of its samples in the epoch before.
  std::optional<OrderMixing> epochs = std::nullopt;
};
using SampleOrder = std::vector<std::int64_t>;  // numbers that increase in storage order
// `orders` has the samples of each stream in order of arrival. `again` has those of the first
// stream one epoch later.
std::optional<ShuffleQuality> shuffle_quality(const std::vector<SampleOrder>& orders,
                                              const SampleOrder& again = {});

struct DatasetInfo {
  std::string path;
  std::string format = "files";  // the row of its source
  bool checked = false;          // decoded, not only looked at
  bool interrupted = false;      // there is more
  Nanos index = 0;           // time until the place of every sample is known, without a kept index
  std::int64_t samples = 0;  // samples of arrays, which have no images
  std::string layout;        // type of each array sample: "(3, 224, 224) of <f4"
  std::int64_t objects = 0;  // number of files, if each holds several samples
  Measure object_bytes;      // sizes of the objects
  Bytes stored = 0;          // bytes of all objects
  std::vector<std::string> notes;         // notes of the source
  std::optional<ShuffleQuality> shuffle;  // only for streams
  std::int64_t images = 0, damaged = 0, other_files = 0;
  std::int64_t unreadable_folders = 0;
  Bytes bytes = 0;  // bytes of undamaged images, like all fields below
  std::int64_t pixels = 0;
  Measure stored_bytes, widths, heights;
  Measure aspects;    // width to height, in thousandths
  Measure qualities;  // JPEG images only, libjpeg's scale
  std::map<std::string, std::int64_t, std::less<>> formats, subsamplings;
  std::int64_t progressive = 0;
  // Images that the JPEG engines of a GPU leave to a CPU, by reason.
  std::map<std::string, std::int64_t, std::less<>> engine_refusals;
  std::map<std::string, std::int64_t, std::less<>>
      classes;                             // folders in `path`, or what its samples say
  std::vector<DamagedFile> first_damaged;  // ordered by path
  static constexpr std::size_t kNamed = 10;

  void merge(const DatasetInfo& other);
  void name_damaged(DamagedFile file);
};

// Inspects a folder of image files.
DatasetInfo inspect_folder(const std::string& path, const InfoContext& context);

// `data` is a value of --data. In a folder of images, inspects the files that a run finds, links
// included, and the other files. In shards and arrays, inspects the samples. Takes memory for their
// names. Throws RunError if the data cannot be read, UsageError for invalid parameters.
DatasetInfo inspect_dataset(const std::string& data, const InfoContext& context);

}  // namespace loaderscope::dataset
