#include "device/cuda/device_group.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace loaderscope::cuda {

DeviceGroup::DeviceGroup(std::shared_ptr<Runtime> runtime, std::int32_t ranks,
                         std::int32_t in_flight, bool barrier)
    : runtime_(std::move(runtime)),
      ranks_(ranks),
      in_flight_(in_flight),
      barrier_(barrier),
      objects_(*runtime_, "GPU 0") {
  const auto words = static_cast<std::size_t>(1 + ranks) +
                     static_cast<std::size_t>(ranks) * static_cast<std::size_t>(in_flight);
  const std::size_t bytes = words * sizeof(std::int64_t);
  words_ = static_cast<std::int64_t*>(objects_.host_memory(bytes, "words for its kernels"));
  std::fill(words_, words_ + words, 0);
}

void DeviceGroup::end() {
  std::atomic_ref<std::int64_t>(*words_).store(1, std::memory_order_release);
}

bool DeviceGroup::has_ended() const {
  return std::atomic_ref<std::int64_t>(*words_).load(std::memory_order_acquire) != 0;
}

Gate DeviceGroup::gate(std::int32_t rank, std::int64_t step) const {
  Gate gate;
  gate.arrived = words_ + 1;
  gate.rank = rank;
  gate.ranks = ranks_;
  gate.step = step + 1;
  gate.abort = words_;
  return gate;
}

Nanos* DeviceGroup::duration_word(std::int32_t rank, std::int64_t buffer) const {
  return words_ + 1 + ranks_ + static_cast<std::int64_t>(rank) * in_flight_ + buffer;
}

}  // namespace loaderscope::cuda
