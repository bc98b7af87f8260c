// Host memory of batches, in every mode.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstring>

#include "loaderscope/device.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

TEST(HostSlots, ArePagesOfTheirOwnInEveryMode) {
  for (const MemoryRow& row : memory_table()) {
    SCOPED_TRACE(row.row.name);
    EXPECT_EQ(&memory_row(row.mode), &row);
    const auto slots = row.make(3, 5000);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slots->slot(i)) % 4096, 0U);
      std::memset(slots->slot(i), static_cast<int>(i) + 1, 5000);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(slots->slot(i)[0], static_cast<std::byte>(i + 1));
      EXPECT_EQ(slots->slot(i)[4999], static_cast<std::byte>(i + 1));
    }
    if (!row.page_locked) {
      EXPECT_EQ(slots->locked_bytes(), 0);
      EXPECT_EQ(slots->fallback(), "");
    } else if (slots->fallback().empty()) {
      EXPECT_EQ(slots->locked_bytes(), 3 * 8192);
    } else {
      EXPECT_EQ(slots->locked_bytes(), 0);
      EXPECT_NE(slots->fallback().find("ulimit -l"), std::string::npos);
    }
  }
}

TEST(HostSlots, MayLieInMemoryThatIsThereAlready) {
  alignas(4096) static std::array<std::byte, 2 * 8192> memory;
  for (const MemoryRow& row : memory_table()) {
    SCOPED_TRACE(row.row.name);
    if (row.adopt == nullptr) {
      EXPECT_EQ(row.mode, MemoryMode::write_combined);
      continue;
    }
    {
      const auto slots = row.adopt(memory.data(), 2, 5000);
      EXPECT_EQ(slots->slot(0), memory.data());
      EXPECT_EQ(slots->slot(1), memory.data() + 8192);
      EXPECT_EQ(slots->locked_bytes(), row.page_locked && slots->fallback().empty() ? 2 * 8192 : 0);
    }
    memory.back() = std::byte{1};  // it stays
  }
}

TEST(HostSlots, OfNothingTakeNothing) {
  for (const MemoryRow& row : memory_table()) {
    const auto slots = row.make(8, 0);
    EXPECT_EQ(slots->locked_bytes(), 0);
    EXPECT_EQ(slots->fallback(), "");
  }
}

TEST(HostSlots, MoreThanThereIsIsOneSentence) {
  try {
    memory_row(MemoryMode::pageable).make(1 << 20, Bytes{1} << 40);
    GTEST_FAIL();
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("--batch-size"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace loaderscope
