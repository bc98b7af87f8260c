// Sources: where the stored bytes of samples come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "loaderscope/rows.h"
#include "loaderscope/units.h"

namespace loaderscope {

// What one worker reads with. Not shared between threads.
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  // The stored bytes of a sample, valid until the next call. Throws SampleError.
  virtual std::span<const std::byte> read(std::int64_t sample) = 0;
  // The samples that will be asked for next, in this order, instead of those named before. Only a
  // hint: others may be asked for, and some never. Costs no time to speak of: whatever a reader
  // does about it happens within `read`.
  virtual void expect(std::span<const std::int64_t> samples) { static_cast<void>(samples); }
};

// A data set, opened. Shared by all workers; everything here is safe to call from any thread.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::int64_t size() const = 0;                        // samples
  virtual std::string describe(std::int64_t sample) const = 0;  // its path, for messages
  virtual std::unique_ptr<SampleReader> make_reader() const = 0;
};

}  // namespace loaderscope
