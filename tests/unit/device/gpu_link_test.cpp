#include "device/cuda/gpu_link.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/machine/pretend_root.h"

namespace loaderscope {
namespace {

using test::PretendRoot;

void add_gpu(const PretendRoot& root, const std::string& address, const std::string& width) {
  const std::string folder = "sys/bus/pci/devices/" + address + "/";
  root.write(folder + "current_link_width", width + "\n");
  root.write(folder + "max_link_width", "16\n");
  root.write(folder + "current_link_speed", "32.0 GT/s PCIe\n");
  root.write(folder + "max_link_speed", "32.0 GT/s PCIe\n");
  root.write(folder + "numa_node", "1\n");
  root.write("sys/devices/system/node/node1/cpulist", "4-7\n");
}

TEST(GpuLink, SaysWidthSpeedAndNode) {
  const PretendRoot root;
  add_gpu(root, "0000:6a:00.0", "8");
  const auto metrics = gpu_link_metrics(root.path(), "0000:6A:00.0", {2, 3, 4});
  EXPECT_EQ(value_of(metrics, "link.width"), 8);
  EXPECT_EQ(value_of(metrics, "link.max_width"), 16);
  EXPECT_EQ(value_of(metrics, "link.gts"), 32);
  EXPECT_EQ(value_of(metrics, "link.max_gts"), 32);
  EXPECT_EQ(value_of(metrics, "numa.gpu_node"), 1);
  EXPECT_EQ(value_of(metrics, "numa.near_cpus"), 1);
  EXPECT_EQ(value_of(metrics, "numa.far_cpus"), 2);
}

TEST(GpuLink, LeavesOutWhatTheKernelDoesNotSay) {
  const PretendRoot root;
  EXPECT_TRUE(gpu_link_metrics(root.path(), "0000:01:00.0", {0}).empty());
  root.write("sys/bus/pci/devices/0000:01:00.0/max_link_speed", "Unknown\n");
  root.write("sys/bus/pci/devices/0000:01:00.0/numa_node", "-1\n");
  EXPECT_TRUE(gpu_link_metrics(root.path(), "0000:01:00.0", {0}).empty());
}

TEST(GpuLink, ShowsWeakestOfSeveral) {
  const PretendRoot root;
  add_gpu(root, "0000:01:00.0", "16");
  add_gpu(root, "0000:02:00.0", "4");
  add_gpu(root, "0000:03:00.0", "8");
  const auto metrics =
      weakest_link_metrics(root.path(), {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"}, {4});
  EXPECT_EQ(value_of(metrics, "link.width"), 4);
  EXPECT_TRUE(weakest_link_metrics(root.path(), {}, {4}).empty());
}

}  // namespace
}  // namespace loaderscope
