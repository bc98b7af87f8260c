#include "machine/standstill.h"

#include <gtest/gtest.h>

namespace loaderscope {
namespace {

constexpr Nanos kMs = kMillisecond;

// Sleeps of 20 ms. One ends 2 s late, of which it waited 10 ms for a core at the end.
TEST(Standstills, FindsSleepsThatEndLate) {
  Standstills standstills(250 * kMs);
  standstills.note_sleep(0, 20 * kMs, 21 * kMs, 0);
  standstills.note_sleep(21 * kMs, 41 * kMs, 2041 * kMs, 10 * kMs);
  EXPECT_EQ(standstills.within(0, 5000 * kMs), 1990 * kMs);
  EXPECT_EQ(standstills.within(0, 141 * kMs), 100 * kMs);
  EXPECT_EQ(standstills.within(1031 * kMs, 5000 * kMs), 1000 * kMs);
  EXPECT_EQ(standstills.within(2041 * kMs, 5000 * kMs), 0);
}

TEST(Standstills, ExcludesWaitsForACore) {
  Standstills standstills(250 * kMs);
  standstills.note_sleep(0, 20 * kMs, 2020 * kMs, 1900 * kMs);
  standstills.note_sleep(2020 * kMs, 2040 * kMs, 2280 * kMs, 0);  // 240 ms: any machine may be so
  EXPECT_EQ(standstills.within(0, 5000 * kMs), 0);
}

}  // namespace
}  // namespace loaderscope
