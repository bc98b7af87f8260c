// Numbers that are stored as what each is more than the one before, as Parquet packs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace loaderscope::source {

struct DeltaNumbers {
  std::vector<std::int64_t> numbers;
  std::size_t bytes = 0;  // that they take
};
// As many as there should be. Throws ValueError.
DeltaNumbers delta_numbers(std::span<const std::byte> from, std::size_t count);

}  // namespace loaderscope::source
