// Checks the promises of host memory in every mode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/shared_memory.h"
#include "loaderscope/device.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kSlots = 3;
constexpr Bytes kBytes = 5000;

void fill(HostSlots& slots) {
  for (std::size_t i = 0; i < kSlots; ++i)
    std::memset(slots.slot(i), static_cast<int>(i + 1), static_cast<std::size_t>(kBytes));
}

void expect_filled(HostSlots& slots) {
  for (std::size_t i = 0; i < kSlots; ++i) {
    const std::byte* slot = slots.slot(i);
    EXPECT_EQ(std::count(slot, slot + kBytes, static_cast<std::byte>(i + 1)), kBytes) << i;
  }
}

// Either all of it is page-locked, or none, with the reason.
void expect_locked_or_explained(const HostSlots& slots, const MemoryRow& row) {
  const bool is_locked = row.page_locked && slots.fallback_reason().empty();
  EXPECT_EQ(slots.locked_bytes(), is_locked ? Bytes{kSlots} * whole_pages(kBytes) : 0);
  if (!row.page_locked) {
    EXPECT_EQ(slots.fallback_reason(), "");
  }
  if (!slots.fallback_reason().empty()) {
    EXPECT_THAT(slots.fallback_reason(), HasSubstr("ulimit -l"));
  }
}

// Lets this process lock no memory while it lives. Root may lock all the same.
class NoLockedMemory {
 public:
  NoLockedMemory() {
    ::getrlimit(RLIMIT_MEMLOCK, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_MEMLOCK, &none);
  }
  ~NoLockedMemory() { ::setrlimit(RLIMIT_MEMLOCK, &before_); }
  NoLockedMemory(const NoLockedMemory&) = delete;
  NoLockedMemory& operator=(const NoLockedMemory&) = delete;

 private:
  rlimit before_{};
};

class MemoryContract : public testing::TestWithParam<MemoryRow> {
 protected:
  void SetUp() override {
    if (const auto reason = row().row.reason_not_available()) GTEST_SKIP() << *reason;
  }
  const MemoryRow& row() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Table, MemoryContract,
                         testing::ValuesIn(memory_table().begin(), memory_table().end()),
                         [](const auto& test) {
                           std::string name(test.param.row.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(MemoryContract, FindsRowByMode) {
  EXPECT_EQ(memory_row(row().mode).row.name, row().row.name);
  EXPECT_EQ(row().row.name, name_of(row().mode));
}

TEST_P(MemoryContract, BeginsSlotsOnPages) {
  const auto slots = row().make(kSlots, kBytes);
  for (std::size_t i = 0; i < kSlots; ++i)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slots->slot(i)) % kSlotAlignment, 0U);
}

TEST_P(MemoryContract, KeepsSlotsSeparate) {
  const auto slots = row().make(kSlots, kBytes);
  fill(*slots);
  expect_filled(*slots);
}

TEST_P(MemoryContract, LocksAllPagesOrSaysWhyNot) {
  expect_locked_or_explained(*row().make(kSlots, kBytes), row());
}

TEST_P(MemoryContract, StaysUsableWithoutRightToLock) {
  const NoLockedMemory limit;
  const auto slots = row().make(kSlots, kBytes);
  expect_locked_or_explained(*slots, row());
  fill(*slots);
  expect_filled(*slots);
}

TEST_P(MemoryContract, TakesNothingForSlotsWithoutBytes) {
  for (const auto& [count, bytes] : {std::pair<std::size_t, Bytes>{8, 0}, {0, kBytes}}) {
    const auto slots = row().make(count, bytes);
    EXPECT_EQ(slots->locked_bytes(), 0);
    EXPECT_EQ(slots->fallback_reason(), "");
  }
}

TEST_P(MemoryContract, ThrowsRunErrorForMoreMemoryThanThereIs) {
  try {
    row().make(1 << 20, Bytes{1} << 40);
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--batch-size"));
  }
}

TEST_P(MemoryContract, AdoptsSharedMemoryInPlace) {
  if (row().wrap_existing == nullptr) GTEST_SKIP() << "Memory of this mode belongs to one process.";
  constexpr auto kStride = static_cast<std::size_t>(whole_pages(kBytes));
  SharedMemory memory;
  auto* const place = static_cast<std::byte*>(memory.allocate(kSlots * kStride, kSlotAlignment));
  {
    const auto slots = row().wrap_existing(place, kSlots, kBytes);
    for (std::size_t i = 0; i < kSlots; ++i) EXPECT_EQ(slots->slot(i), place + i * kStride);
    expect_locked_or_explained(*slots, row());
    fill(*slots);
  }
  expect_filled(*memory_row(MemoryMode::pageable).wrap_existing(place, kSlots, kBytes));
}

TEST(MemoryTable, ListsRowForEveryMode) {
  for (const auto& word : Words<MemoryMode>::table())
    EXPECT_EQ(memory_row(word.value).mode, word.value) << word.name;
}

}  // namespace
}  // namespace loaderscope
