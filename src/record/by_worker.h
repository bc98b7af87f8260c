// Values per worker of a rank, indexed by worker number. The number of workers may grow: a program
// may change its loader between two epochs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace loaderscope {

// Returns the entry of worker `number`, and grows the vector if needed. The reference is valid
// until the next call.
template <class T>
T& of_worker(std::vector<T>& workers, std::int32_t number) {
  const auto place = static_cast<std::size_t>(number);
  if (place >= workers.size()) workers.resize(place + 1);
  return workers[place];
}

}  // namespace loaderscope
