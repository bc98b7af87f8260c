// Counts of the images that a device decodes, and of those that it leaves to a CPU. For all
// threads, and for all processes forked from the one that made it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/shared_memory.h"
#include "loaderscope/run_record.h"

namespace loaderscope::native {

class DecodeCounts {
 public:
  // Words in addition to those of dataset::engine_refusal. The last ones are those of the device.
  static constexpr std::string_view kDamaged = "damaged";
  static constexpr std::string_view kNoRoom = "room";  // the slot has no room for its stored bytes
  static constexpr std::string_view kCrop = "crop";    // too large for the size of a sample
  static constexpr std::array kOwnWords = {kDamaged,
                                           kNoRoom,
                                           kCrop,
                                           std::string_view("region"),
                                           std::string_view("memory"),
                                           std::string_view("failed"),
                                           std::string_view("other")};

  DecodeCounts() : counts_(place<Counts>(shared_)) {}

  void count_device() const { add(counts_->device, 1); }
  // `refusal`: why the device did not decode it. "" if the device was not asked.
  void count_cpu(std::string_view refusal) const;
  // An image of count_device() went another way.
  void move_to_cuda() const;
  void move_to_cpu(std::string_view refusal) const;
  void forget_device() const { add(counts_->device, -1); }
  // Empty if no image was counted.
  std::vector<Metric> metrics() const;

 private:
  static constexpr std::size_t kMaxReasons = 15;
  struct Counts {
    std::atomic<std::int64_t> device{0}, cuda{0}, cpu{0};
    std::array<std::atomic<std::int64_t>, kMaxReasons> refused{};
  };
  static void add(std::atomic<std::int64_t>& count, std::int64_t more) {
    count.fetch_add(more, std::memory_order_relaxed);
  }

  SharedMemory shared_;
  ArenaPtr<Counts> counts_;
};

}  // namespace loaderscope::native
