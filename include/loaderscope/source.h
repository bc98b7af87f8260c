// Sources: where the stored bytes of samples lie, and what reads them.
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

// Is told by who reads which part of that is measured apart; this one lets it pass.
class SubstageListener {
 public:
  virtual ~SubstageListener() = default;
  // A sub-stage of reading, within which there is no other, begins; it ends.
  virtual void enter(Stage stage) { static_cast<void>(stage); }
  virtual void leave() {}
};

// What one worker reads with. Not shared between threads.
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  // The stored bytes of a sample, valid until the next call. Throws SampleError.
  virtual std::span<const std::byte> read(std::int64_t sample) = 0;
  // The same, in `place`, which has room for all of it. Without a copy where the reader can.
  virtual std::span<const std::byte> read_to(std::int64_t sample, std::byte* place) {
    const std::span<const std::byte> stored = read(sample);
    std::copy(stored.begin(), stored.end(), place);
    return {place, stored.size()};
  }
  // The samples that will be asked for next, in this order, instead of those named before. Only a
  // hint: others may be asked for, and some never. Costs no time to speak of: whatever a reader
  // does about it happens within `read`, and what it has begun to read goes on where it is named
  // again.
  virtual void expect(std::span<const std::int64_t> samples) { static_cast<void>(samples); }
  // How many of them it reads ahead; 0: nothing comes of naming any.
  virtual int readahead_limit() const { return 0; }
  // Who is told, from now on, which part of reading it is at; outlives it. Else nobody is.
  virtual void set_listener(SubstageListener& stages) { static_cast<void>(stages); }
  // What the last call read of what is stored, where that is not just the sample.
  virtual std::optional<Bytes> stored_bytes() const { return std::nullopt; }
};

// Where the stored bytes of one sample lie: `length` bytes of an object (a file, a shard).
struct Extent {
  static constexpr Bytes kToEnd =
      -1;  // the sample is the whole object, whose size opening it tells
  std::int64_t object = 0;
  Bytes offset = 0;
  Bytes length = kToEnd;
};

// The files that a source lies in.
class Objects {
 public:
  virtual ~Objects() = default;
  virtual std::int64_t objects() const = 0;
  // The object's path, as it is: not fit to print. The memory of `path` is used again.
  virtual void path_of(std::int64_t object, std::string& path) const = 0;
  virtual std::vector<std::string> roots() const = 0;  // paths below which all objects lie
  // By what the object is known as unchanged since the source was opened; 0: by nothing.
  virtual std::uint64_t version_stamp(std::int64_t object) const {
    static_cast<void>(object);
    return 0;
  }
};

// Of a source whose samples are extents of objects: every way of reading serves it.
class Extents : public Objects {
 public:
  virtual Extent extent(std::int64_t sample) const = 0;
  // Whether an object is opened for each of its samples, as a library may do it.
  virtual bool opens_for_each_sample() const { return false; }
};

// Whose stream it is: the worker's of a rank, numbers from 0.
struct StreamConsumer {
  std::int32_t rank = 0, ranks = 1;
  std::int32_t worker = 0, workers = 1;  // of each rank
  std::uint64_t seed = 0;
};

// The samples of one worker, in an order that is the stream's own. Not shared between threads.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  // From the beginning, in the order of this epoch.
  virtual void begin_epoch(std::int64_t epoch) = 0;
  // The stored bytes of the next sample, valid until the next call; nothing at the epoch's end.
  // Throws SampleError for what cannot be had: the next call goes on behind it.
  virtual std::optional<std::span<const std::byte>> next() = 0;
  // What was read of the shard for what the last call gave: of a compressed one all that was taken
  // since the sample before.
  virtual Bytes stored_bytes() const = 0;
  // Of what the last call gave, or failed at: a number that no other sample has, the same in every
  // epoch and for every part; its place, for messages.
  virtual std::int64_t sample() const = 0;
  virtual std::string place() const = 0;
};

// Of a source whose workers own the order: every sample is in the stream of exactly one of them.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  // The sink outlives it, and is used by the thread that calls next().
  virtual std::unique_ptr<SampleStream> make_stream(const StreamConsumer& part,
                                                    SubstageListener& stages) const = 0;
  // What is shared out, one after another, among the ranks and then among the workers of a rank.
  virtual std::int64_t shards() const = 0;
};

// What the stored bytes of a sample are to the loader.
enum class SampleForm : std::uint8_t {
  declared,  // there are none: every stage takes what --cost declares for it
  image,     // a coded image: it is decoded and augmented
  array,     // numbers that go into the batch as they are, as many bytes for every sample
};

// A data set, opened. Shared by all workers; everything here is safe to call from any thread.
class Source {
 public:
  static constexpr std::int64_t kUnknownSize = -1;  // of what is only streamed

  virtual ~Source() = default;
  virtual std::int64_t size() const = 0;                        // samples
  virtual std::string describe(std::int64_t sample) const = 0;  // its place, for messages
  // Null for what is only streamed.
  virtual std::unique_ptr<SampleReader> make_reader() const = 0;

  // What not every source has.
  virtual const StreamSource* streams() const { return nullptr; }
  virtual Bytes sample_bytes() const { return 0; }  // of each sample, where they are arrays
  // Of them likewise, for people: "(3, 224, 224) of <f4".
  virtual std::string layout() const { return {}; }
  virtual const Extents* extents() const { return nullptr; }
  virtual const Objects* stored_in() const { return extents(); }
  virtual std::optional<FileAccess> access() const { return std::nullopt; }  // in force
  virtual Bytes bytes_read_ahead() const { return 0; }  // by one reader, at most
  // One sentence each, for people; with what readers met so far.
  virtual std::vector<std::string> notes() const { return {}; }
  virtual std::vector<Metric> metrics() const { return {}; }  // what readers did so far
  virtual std::vector<Detail> details() const { return {}; }  // what parts of reading are called
};

}  // namespace loaderscope
