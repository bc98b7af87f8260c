// Host memory of every mode on a real GPU: the right bytes arrive.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "device/cuda/cuda_slots.h"
#include "gpu/gpu_test.h"

namespace loaderscope::cuda {
namespace {

class GpuMemoryTest : public GpuTest {
 protected:
  static constexpr Bytes kSlot = 3 << 20;

  void expect_copied(std::byte* host, unsigned seed) {
    std::vector<std::byte> expected(kSlot), arrived(kSlot);
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = static_cast<std::byte>((i * 2654435761u + seed) >> 13);
    std::memcpy(host, expected.data(), expected.size());
    const Stream stream = objects_->stream();
    void* place = objects_->memory(expected.size(), "a slot");
    ASSERT_TRUE(runtime_->copy_to_device(place, host, expected.size(), stream).ok());
    ASSERT_TRUE(runtime_->copy_to_host(arrived.data(), place, arrived.size(), stream).ok());
    ASSERT_TRUE(runtime_->synchronise_device().ok());
    EXPECT_EQ(expected, arrived);
  }
};

TEST_F(GpuMemoryTest, CopiesFromEveryModeDeliverTheBytes) {
  const auto device = make();
  for (const auto& word : Words<MemoryMode>::table()) {
    SCOPED_TRACE(word.name);
    const auto slots = device->make_slots(word.value, 3, kSlot);
    EXPECT_EQ(slots->fallback_reason(), "");
    EXPECT_EQ(slots->locked_bytes(), word.value == MemoryMode::pageable ? 0 : 3 * kSlot);
    for (unsigned i = 0; i < 3; ++i) expect_copied(slots->slot(i), i);
  }
}

TEST_F(GpuMemoryTest, RegistersSharedMemoryInChunks) {
  const int file = ::memfd_create("loaderscope-test", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::ftruncate(file, 4 * kSlot), 0);
  void* shared = ::mmap(nullptr, 4 * kSlot, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* slots = static_cast<std::byte*>(shared);
  {
    const RegisteredRange range(*runtime_, slots, 4, kSlot, 2 * kSlot);
    EXPECT_TRUE(range.status().ok()) << range.status().name;
    EXPECT_EQ(range.bytes(), 4 * kSlot);
    for (unsigned i = 0; i < 4; ++i) expect_copied(slots + i * kSlot, i);
  }
  ::munmap(shared, 4 * kSlot);
  ::close(file);
}

}  // namespace
}  // namespace loaderscope::cuda
