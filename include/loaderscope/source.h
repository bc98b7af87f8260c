// Sources: where the stored bytes of samples come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "loaderscope/rows.h"
#include "loaderscope/units.h"

namespace loaderscope {

// A sample that cannot be used. It is counted by kind, named, and skipped or fatal (--on-error).
class SampleError : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t {
    unreadable,   // missing, no permission, a directory, an I/O error
    truncated,    // ends early, or shrank while it was read
    damaged,      // its bytes contradict themselves
    unsupported,  // a format, colour space or depth that no decoder here knows
    too_large,    // its header asks for more memory than a sample may have
  };
  SampleError(Kind why, const std::string& what) : std::runtime_error(what), kind(why) {}
  Kind kind;
};
std::string_view name_of(SampleError::Kind kind);  // "unreadable", ...

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
