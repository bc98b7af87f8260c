// Samples in groups that are read, and perhaps unpacked, as a whole.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "source/access.h"

namespace loaderscope::source {

struct SampleGroup {
  std::int64_t object = 0, number = 0;  // `number` is the index within the object
  std::int64_t first_sample = 0, samples = 0;
  Bytes begin = 0, length = 0;  // bytes to read, in the object
};

const SampleGroup& group_of(const std::vector<SampleGroup>& groups, std::int64_t sample);

// Contents of a group. Each reader has one.
class GroupDecoder {
 public:
  virtual ~GroupDecoder() = default;
  // Opens a group by its index. `bytes` must stay valid until the next call. Throws SampleError.
  virtual void open(std::span<const std::byte> bytes, std::size_t group) = 0;
  // Returns a sample of the group, or nothing if it is missing. Valid until the next call. Throws
  // SampleError.
  virtual std::optional<std::span<const std::byte>> value(std::int64_t place,
                                                          SubstageListener& stages) = 0;
};

// Reads a group at the first of its samples, and holds it until another group is needed. `stored`
// returns the group of a sample. The groups and the access outlive the reader.
std::unique_ptr<SampleReader> make_group_reader(std::unique_ptr<SampleReader> stored,
                                                const std::vector<SampleGroup>& groups,
                                                const Access& access,
                                                std::unique_ptr<GroupDecoder> decoder);

}  // namespace loaderscope::source
