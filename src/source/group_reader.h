// Samples that are stored in groups of which each is read, and perhaps unpacked, as a whole.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "source/access.h"

namespace loaderscope::source {

struct SampleGroup {
  std::int64_t object = 0, number = 0;  // of its object's the number-th
  std::int64_t first_sample = 0, samples = 0;
  Bytes begin = 0, length = 0;  // of what is read, in the object
};

const SampleGroup& group_of(const std::vector<SampleGroup>& groups, std::int64_t sample);

// What lies in a group that was read. Of one reader.
class GroupDecoder {
 public:
  virtual ~GroupDecoder() = default;
  // Of these bytes, which stay where they are until the next call: the group of this place among
  // all. Throws SampleError.
  virtual void open(std::span<const std::byte> bytes, std::size_t group) = 0;
  // Of one of its samples, nothing where there is none. Valid until the next call. Throws
  // SampleError.
  virtual std::optional<std::span<const std::byte>> value(std::int64_t place,
                                                          SubstageListener& stages) = 0;
};

// A group is read at the first of its samples and held until another is needed. `stored` gives for
// a sample its group. The groups and the access outlive it.
std::unique_ptr<SampleReader> make_group_reader(std::unique_ptr<SampleReader> stored,
                                                const std::vector<SampleGroup>& groups,
                                                const Access& access,
                                                std::unique_ptr<GroupDecoder> decoder);

}  // namespace loaderscope::source
