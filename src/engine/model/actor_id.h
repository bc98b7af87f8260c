// The actor that wakes when work ends. The packed number is also the order of ends in the same ns:
// workers by their id, then feeders, pin threads, trainers and computes.
#pragma once

#include <cstdint>

namespace loaderscope::model {

enum class Role : std::uint8_t { worker, feeder, pin_thread, trainer, compute };

struct ActorId {
  Role role;
  std::int32_t rank;
  std::int32_t index;  // number of the worker; 0 for all others
};

constexpr std::uint64_t pack(ActorId who) {
  return static_cast<std::uint64_t>(who.role) << 56 | static_cast<std::uint64_t>(who.rank) << 28 |
         static_cast<std::uint64_t>(who.index);
}

constexpr ActorId unpack(std::uint64_t packed) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 28) - 1;
  return {static_cast<Role>(packed >> 56), static_cast<std::int32_t>(packed >> 28 & kMask),
          static_cast<std::int32_t>(packed & kMask)};
}

}  // namespace loaderscope::model
