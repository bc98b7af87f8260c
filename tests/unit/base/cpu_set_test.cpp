#include "base/cpu_set.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace loaderscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CpuSet, ReadsListsOfTheKernel) {
  EXPECT_THAT(parse_cpu_list("0-3,8,10-11\n"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(parse_cpu_list(""), IsEmpty());
  EXPECT_THAT(parse_cpu_list("2,x"), ElementsAre(2));
  EXPECT_THAT(parse_cpu_list("2-"), IsEmpty());
}

TEST(CpuSet, CountsWhatTheCpusDid) {
  const char* const text =
      "cpu  999 9 9 9 9 9 9 9 9 9\n"
      "cpu0 100 10 50 1000 70 5 5 3 40 0\n"
      "cpu1 300 0 0 1000 0 0 0 0 0 0\n"
      "intr 17\n";
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto busy_time = [&](const CpuSet& cpus) {
    std::istringstream stream(text);
    return busy_seconds(stream, cpus);
  };
  EXPECT_EQ(busy_time({0}), 170 / ticks);  // idle and stolen ticks are left out, guests count once
  EXPECT_EQ(busy_time({0, 1}), 470 / ticks);
  EXPECT_FALSE(busy_time({0, 2}));
  EXPECT_FALSE(busy_time({}));
}

TEST(CpuSet, KeepsThreadOnCpusUntilRelease) {
  const CpuSet before = allowed_cpus();
  {
    const OnCpus last({before.back()});
    EXPECT_TRUE(last.holds());
    EXPECT_EQ(allowed_cpus(), CpuSet{before.back()});
  }
  EXPECT_EQ(allowed_cpus(), before);
  EXPECT_FALSE(OnCpus({}).holds());
  EXPECT_FALSE(OnCpus({100000}).holds());
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(CpuSet, ListsCpusOfThisProcess) {
  const CpuSet cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  std::ifstream stat("/proc/stat");
  EXPECT_TRUE(busy_seconds(stat, cpus));
}

}  // namespace
}  // namespace loaderscope
