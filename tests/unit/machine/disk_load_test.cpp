#include "machine/machine_load.h"

#include <gtest/gtest.h>

#include "unit/machine/pretend_root.h"

namespace loaderscope {
namespace {

TEST(DiskLoad, ReadsOnlyWholeDisks) {
  const test::PretendRoot root;
  root.write("proc/diskstats",
             "   7 0 loop0 1 0 8 0 0 0 0 0 0 5 5\n 253 0 vda 10 0 2048 7 1 0 8 1 0 1500 8 0 0 0 0\n"
             " 253 1 vda1 10 0 2048 7 1 0 8 1 0 1500 8\n 8 0 sda 1 2\n");
  root.write("sys/block/vda/size", "1\n");
  root.write("sys/block/loop0/size", "1\n");
  root.write("sys/block/sda/size", "1\n");
  const auto disks = read_disks(root.path());
  ASSERT_EQ(disks.size(), 1U);
  EXPECT_DOUBLE_EQ(disks.at("vda").busy_s, 1.5);
  EXPECT_EQ(disks.at("vda").read, 1 << 20);
  EXPECT_TRUE(read_disks(root.path() / "nowhere").empty());
}

}  // namespace
}  // namespace loaderscope
