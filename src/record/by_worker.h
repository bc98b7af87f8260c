// What is kept for each worker of a rank, by its number. There may come to be more of them than
// there were at first: a program may change its loader between two epochs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace loaderscope {

// Until the next call: the vector grows where it has none of that number.
template <class T>
T& of_worker(std::vector<T>& workers, std::int32_t number) {
  const auto place = static_cast<std::size_t>(number);
  if (place >= workers.size()) workers.resize(place + 1);
  return workers[place];
}

}  // namespace loaderscope
