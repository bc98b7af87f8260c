// The work of a GPU for the loader in one step, and the time that training loses by it.
#include <gtest/gtest.h>

#include "report/table_parts.h"
#include "unit/predict/seen_program.h"

namespace loaderscope {
namespace {

// Batches of 10 are decoded in 5 ms and augmented in 1 ms.
std::string describe_work(const std::string& more) {
  const RunRecord record = modelled(
      "batch = 10\nworkers = 4\ndecode = hw\ncost = gpu-decode=500us\ncost = gpu-augment=100us\n"
      "compute = 20ms\nwarmup = 8\nsteps = 80\n" +
      more);
  return device_work_line(record, analyse(record));
}

TEST(DeviceWorkLine, SaysWhatRunsDuringCompute) {
  EXPECT_EQ(describe_work(""),
            "GPU work per step: decode 5.000 ms, augment 1.000 ms; 6.000 ms of it during compute");
}

// The kernel takes twice its time next to compute, and compute half of its speed meanwhile.
TEST(DeviceWorkLine, SaysWhatItTakesFromTraining) {
  EXPECT_EQ(describe_work("shared-speed = gpu-augment=0.5:0.5\n"),
            "GPU work per step: decode 5.000 ms, augment 2.000 ms; 7.000 ms of it during compute, "
            "which makes that 1.000 ms longer");
}

TEST(DeviceWorkLine, LeavesOutGpuThatOnlyTrains) {
  const RunRecord record =
      modelled("batch = 10\nworkers = 4\ncost = decode=1ms\ncompute = 20ms\nsteps = 20\n");
  EXPECT_EQ(device_work_line(record, analyse(record)), "");
}

}  // namespace
}  // namespace loaderscope
