// The room of a mixed slot, which the workers of a batch take sample by sample.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "engine/pipeline/batch_layout.h"

namespace loaderscope::native {

class SlotRoom {
 public:
  // Starts a batch of that number of samples. No worker may have the batch.
  void clear(std::int64_t samples) {
    state_.store(pack({static_cast<std::uint64_t>(samples), 0}), std::memory_order_relaxed);
  }

  // Takes room for one sample and returns its offset in the slot. Returns nothing if then a sample
  // without a place could not have its crop. A crop always has a place. Takes it once per sample.
  std::optional<Bytes> take(Bytes bytes, const BatchLayout& layout) {
    const auto wanted = static_cast<std::uint64_t>(divide_up(bytes, BatchLayout::kAlignment));
    const auto room = static_cast<std::uint64_t>(layout.data_bytes() / BatchLayout::kAlignment);
    const auto crop = static_cast<std::uint64_t>(layout.crop_bytes / BatchLayout::kAlignment);
    std::uint64_t before = state_.load(std::memory_order_relaxed);
    for (;;) {
      const State state = unpack(before);
      const std::uint64_t used = state.used + wanted;
      if (state.left == 0 || used + (state.left - 1) * crop > room) return std::nullopt;
      if (state_.compare_exchange_weak(before, pack({state.left - 1, used}),
                                       std::memory_order_relaxed))
        return layout.table_bytes + static_cast<Bytes>(state.used) * BatchLayout::kAlignment;
    }
  }

  // Bytes of the samples that have a place.
  Bytes used() const {
    const State state = unpack(state_.load(std::memory_order_relaxed));
    return static_cast<Bytes>(state.used) * BatchLayout::kAlignment;
  }

 private:
  // 2^24 samples, and 64 TiB in units of the alignment.
  static constexpr int kUsedBits = 40;
  struct State {
    std::uint64_t left = 0, used = 0;
  };
  static constexpr std::uint64_t pack(const State& state) {
    return state.left << kUsedBits | state.used;
  }
  static constexpr State unpack(std::uint64_t packed) {
    return {packed >> kUsedBits, packed & ((std::uint64_t{1} << kUsedBits) - 1)};
  }

  std::atomic<std::uint64_t> state_{0};
};

}  // namespace loaderscope::native
