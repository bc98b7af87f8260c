// GPUs of a library that is made for this test: it has the functions of NVML, and no GPU.
#include "machine/gpu_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace loaderscope {
namespace {

TEST(GpuLoads, CountsBetweenTwoSamplesOfSupportedGpu) {
  GpuLoads gpus(LOADERSCOPE_PRETEND_NVML);
  EXPECT_FALSE(gpus.details(0).counters);
  ASSERT_TRUE(gpus.details(0).counters);
  EXPECT_DOUBLE_EQ(gpus.details(0).counters->multiprocessors, 0.02);
  EXPECT_FALSE(gpus.details(1).counters);
  EXPECT_FALSE(gpus.details(1).counters);
}

TEST(GpuLoads, ReadsLoadsFromDriverLibrary) {
  const GpuLoads gpus(LOADERSCOPE_PRETEND_NVML);
  EXPECT_EQ(gpus.unavailable(), "");
  const std::vector<GpuLoad> loads = gpus.read();
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_EQ(loads[0].name, "Pretender");
  EXPECT_DOUBLE_EQ(loads[0].busy, 0.83);
  EXPECT_DOUBLE_EQ(loads[0].memory_used / loads[0].memory, 0.75);
  EXPECT_THAT(loads[0].processes, testing::ElementsAre(::getpid()));
  EXPECT_TRUE(loads[1].processes.empty());
  EXPECT_EQ(loads[1].link.generation, 4);
  EXPECT_EQ(loads[1].link.width, 8);
  EXPECT_EQ(loads[1].widest.generation, 5);
  EXPECT_EQ(loads[1].widest.width, 16);
}

TEST(GpuLoads, ExplainsMissingGpus) {
  EXPECT_EQ(GpuLoads("libnowhere.so.1").unavailable(),
            "no NVML here: libnowhere.so.1 cannot be loaded");
  EXPECT_EQ(GpuLoads("libc.so.6").unavailable(), "libc.so.6 lacks functions of NVML");
  EXPECT_TRUE(GpuLoads("libc.so.6").read().empty());
}

}  // namespace
}  // namespace loaderscope
