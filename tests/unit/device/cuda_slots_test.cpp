#include "device/cuda/cuda_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "unit/device/pretend_runtime.h"

namespace loaderscope::cuda {
namespace {

using ::testing::HasSubstr;

class CudaSlotsTest : public testing::Test {
 protected:
  std::unique_ptr<HostSlots> make(MemoryMode mode, std::size_t count, Bytes bytes) {
    return make_cuda_slots(gang_, 0, mode, count, bytes);
  }

  // Every slot is memory of its own that can be written wholly.
  static void expect_usable(HostSlots& slots, std::size_t count, Bytes bytes) {
    for (std::size_t i = 0; i < count; ++i)
      std::memset(slots.slot(i), static_cast<int>(i + 1), static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(std::to_integer<std::size_t>(slots.slot(i)[0]), i + 1);
      EXPECT_EQ(std::to_integer<std::size_t>(slots.slot(i)[bytes - 1]), i + 1);
      EXPECT_EQ(slots.slot(i), slots.slot(0) + i * 8192);
    }
  }

  std::shared_ptr<PretendRuntime> runtime_ = std::make_shared<PretendRuntime>();
  std::shared_ptr<DeviceGroup> gang_ = std::make_shared<DeviceGroup>(runtime_, 1, 2, false);
};

TEST_F(CudaSlotsTest, MakesUsableSlotsOfEveryMode) {
  for (const auto& word : Words<MemoryMode>::table()) {
    SCOPED_TRACE(word.name);
    const auto slots = make(word.value, 3, 5000);
    expect_usable(*slots, 3, 5000);
    EXPECT_EQ(slots->fallback_reason(), "");
    EXPECT_EQ(slots->locked_bytes(), word.value == MemoryMode::pageable ? 0 : 3 * 8192);
  }
  EXPECT_EQ(runtime_->calls("allocate_write_combined"), 1);
  EXPECT_EQ(runtime_->calls("register_host"), 1);
  EXPECT_EQ(runtime_->calls("allocate_host"), 3);  // the gang's words, pin-thread, pinned-slots
}

TEST_F(CudaSlotsTest, TakesNoMemoryForEmptySlots) {
  EXPECT_EQ(make(MemoryMode::pinned_slots, 3, 0)->locked_bytes(), 0);
  EXPECT_EQ(runtime_->calls("allocate_host"), 1);
}

TEST_F(CudaSlotsTest, ExplainsSlotsThatCannotBeLocked) {
  runtime_->host_memory = 0;
  for (const MemoryMode mode : {MemoryMode::pin_thread, MemoryMode::pinned_slots,
                                MemoryMode::registered, MemoryMode::write_combined}) {
    const auto slots = make(mode, 3, 5000);
    expect_usable(*slots, 3, 5000);
    EXPECT_EQ(slots->locked_bytes(), 0);
    EXPECT_THAT(slots->fallback_reason(),
                HasSubstr("memory = " + std::string(name_of(mode)) + ": "));
    EXPECT_THAT(slots->fallback_reason(), HasSubstr("cannot be page-locked"));
    EXPECT_THAT(slots->fallback_reason(), HasSubstr("cudaErrorMemoryAllocation"));
  }
}

TEST_F(CudaSlotsTest, RegistersSharedMemoryInPlace) {
  alignas(4096) static std::array<std::byte, 3 * 8192> memory;
  for (const MemoryMode mode :
       {MemoryMode::pageable, MemoryMode::pinned_slots, MemoryMode::registered}) {
    const bool locks = mode != MemoryMode::pageable;
    const int before = runtime_->calls("register_host");
    const auto slots = wrap_cuda_slots(gang_, 0, mode, memory.data(), 3, 5000);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(slots->slot(i), memory.data() + i * 8192);
    EXPECT_EQ(slots->locked_bytes(), locks ? 3 * 8192 : 0);
    EXPECT_EQ(runtime_->calls("register_host") - before, locks ? 1 : 0);
    EXPECT_EQ(slots->fallback_reason(), "");
  }
  EXPECT_EQ(runtime_->calls("unregister_host"), 2);
  runtime_->fail("register_host", 1, "cudaErrorMemoryAllocation");
  const auto slots = wrap_cuda_slots(gang_, 0, MemoryMode::pinned_slots, memory.data(), 3, 5000);
  EXPECT_THAT(slots->fallback_reason(), HasSubstr("memory = pinned-slots: "));
}

TEST_F(CudaSlotsTest, RegistersRangeInChunksOfWholeSlots) {
  std::vector<std::byte> memory(7 * 1000);
  {
    const RegisteredRange range(*runtime_, memory.data(), 7, 1000, 2500);
    EXPECT_TRUE(range.status().ok());
    EXPECT_EQ(range.bytes(), 7000);
    EXPECT_EQ(runtime_->calls("register_host"), 4);
  }
  EXPECT_EQ(runtime_->calls("unregister_host"), 4);
}

TEST_F(CudaSlotsTest, UndoesChunksAfterFailure) {
  std::vector<std::byte> memory(7 * 1000);
  runtime_->fail("register_host", 2, "cudaErrorMemoryAllocation");
  const RegisteredRange range(*runtime_, memory.data(), 7, 1000, 2500);
  EXPECT_FALSE(range.status().ok());
  EXPECT_EQ(range.bytes(), 0);
  EXPECT_EQ(runtime_->calls("unregister_host"), 2);
}

}  // namespace
}  // namespace loaderscope::cuda
