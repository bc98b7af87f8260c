// Numbers stored as differences to the number before, in Parquet's packing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace loaderscope::source {

struct DeltaNumbers {
  std::vector<std::int64_t> numbers;
  std::size_t bytes = 0;  // stored bytes
};
// Reads `count` numbers. Throws ValueError.
DeltaNumbers delta_numbers(std::span<const std::byte> from, std::size_t count);

}  // namespace loaderscope::source
