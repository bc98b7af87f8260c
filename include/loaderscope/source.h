// Sources: the storage of samples' bytes, and the readers of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"
#include "loaderscope/units.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

// Receives the sub-stages of a read, so that they are measured separately. The default ignores
// them.
class SubstageListener {
 public:
  virtual ~SubstageListener() = default;
  // Begins and ends a sub-stage of reading. Sub-stages do not nest.
  virtual void enter(Stage stage) { static_cast<void>(stage); }
  virtual void leave() {}
};

// The reader of one worker. Not shared between threads.
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  // The stored bytes of a sample, valid until the next call. Throws SampleError.
  virtual std::span<const std::byte> read(std::int64_t sample) = 0;
  // Reads into `place`, which must have room for all of it. Avoids a copy if the reader can.
  virtual std::span<const std::byte> read_to(std::int64_t sample, std::byte* place) {
    const std::span<const std::byte> stored = read(sample);
    std::copy(stored.begin(), stored.end(), place);
    return {place, stored.size()};
  }
  // Announces the next samples in this order, and replaces earlier announcements. This is only a
  // hint: the caller may read other samples, and may skip some. The call itself is fast, because
  // all work is done within `read`. A read in progress continues if its sample is announced again.
  virtual void expect(std::span<const std::int64_t> samples) { static_cast<void>(samples); }
  // Returns how many announced samples it reads ahead. 0 if announcements have no effect.
  virtual int readahead_limit() const { return 0; }
  // Sets the listener for sub-stages of later reads. The listener must outlive the reader.
  virtual void set_listener(SubstageListener& stages) { static_cast<void>(stages); }
  // Returns the stored bytes that the last call read, if they differ from the sample.
  virtual std::optional<Bytes> stored_bytes() const { return std::nullopt; }
};

// Place of one sample's stored bytes: `length` bytes of an object (a file, a shard).
struct Extent {
  static constexpr Bytes kToEnd =
      -1;  // the sample is the whole object, whose size is known after opening
  std::int64_t object = 0;
  Bytes offset = 0;
  Bytes length = kToEnd;
};

// The files of a source.
class Objects {
 public:
  virtual ~Objects() = default;
  virtual std::int64_t objects() const = 0;
  // Writes the path of the object, unchanged and not fit to print. Reuses the memory of `path`.
  virtual void get_path(std::int64_t object, std::string& path) const = 0;
  virtual std::vector<std::string> roots() const = 0;  // paths below which all objects lie
  // Returns a stamp that changes if the object changed since the source was opened. 0 if unknown.
  virtual std::uint64_t version_stamp(std::int64_t object) const {
    static_cast<void>(object);
    return 0;
  }
};

// A source whose samples are extents of objects. Every access method can read it.
class Extents : public Objects {
 public:
  virtual Extent extent(std::int64_t sample) const = 0;
  // Returns true if an object is opened for each of its samples, as some libraries do.
  virtual bool opens_for_each_sample() const { return false; }
};

// Owner of a stream: a worker of a rank. Numbers begin at 0.
struct StreamConsumer {
  std::int32_t rank = 0, ranks = 1;
  std::int32_t worker = 0, workers = 1;  // workers of each rank
  std::uint64_t seed = 0;
};

// The samples of one worker, in an order that is the stream's own. Not shared between threads.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  // Restarts at the first sample, in the order of this epoch.
  virtual void begin_epoch(std::int64_t epoch) = 0;
  // Returns the stored bytes of the next sample, valid until the next call. Returns nothing at the
  // end of the epoch. Throws SampleError for a sample that is not available. The next call
  // continues after it.
  virtual std::optional<std::span<const std::byte>> next() = 0;
  // Returns the bytes of the shard that the last call read. For a compressed shard, these are all
  // bytes since the previous sample.
  virtual Bytes stored_bytes() const = 0;
  // Returns the number of the sample that the last call returned or failed at. The number is
  // unique, and the same in every epoch and for every consumer. place() is for messages.
  virtual std::int64_t sample() const = 0;
  virtual std::string place() const = 0;
};

// A source whose workers own the order. Every sample is in the stream of exactly one worker.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  // The sink outlives it, and is used by the thread that calls next().
  virtual std::unique_ptr<SampleStream> make_stream(const StreamConsumer& part,
                                                    SubstageListener& stages) const = 0;
  // Returns the number of shards. They are distributed one by one among the ranks, and then among
  // the workers of a rank.
  virtual std::int64_t shards() const = 0;
};

// A data set, opened. Shared by all workers; everything here is safe to call from any thread.
class Source {
 public:
  static constexpr std::int64_t kUnknownSize = -1;  // size of a source that is only streamed

  virtual ~Source() = default;
  virtual std::int64_t size() const = 0;                        // samples
  virtual std::string describe(std::int64_t sample) const = 0;  // place of the sample, for messages
  // Returns null for a source that is only streamed.
  virtual std::unique_ptr<SampleReader> make_reader() const = 0;

  // Optional properties, which not every source has.
  virtual const StreamSource* streams() const { return nullptr; }
  virtual Bytes sample_bytes() const { return 0; }  // size of each sample of an array source
  // Returns the shape and type of an array sample for messages: "(3, 224, 224) of <f4".
  virtual std::string layout() const { return {}; }
  virtual const Extents* extents() const { return nullptr; }
  virtual const Objects* stored_objects() const { return extents(); }
  virtual std::optional<FileAccess> access() const { return std::nullopt; }  // method in force
  virtual Bytes bytes_read_ahead() const { return 0; }  // largest amount of one reader
  // Returns one sentence per note for people, including what the readers have met so far.
  virtual std::vector<std::string> notes() const { return {}; }
  virtual std::vector<Metric> metrics() const { return {}; }  // work of the readers so far
  virtual std::vector<Detail> details() const { return {}; }  // names of the sub-stages of reading
};

}  // namespace loaderscope
