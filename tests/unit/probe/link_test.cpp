// The link matrix over a runtime that only pretends.
#include "probe/link.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "loaderscope/errors.h"
#include "report/kinds.h"
#include "unit/device/pretend_runtime.h"
#include "unit/machine/pretend_root.h"

namespace loaderscope::probe {
namespace {

using ::testing::HasSubstr;

class LinkProbeTest : public testing::Test {
 protected:
  LinkProbeTest() {
    options_.sizes = {Bytes{64} << 10, Bytes{1} << 20};
    options_.at_least = 4 << 20;
    options_.samples = 3;
  }

  LinkMatrix measure() { return measure_link(runtime_, options_, stop_); }

  std::shared_ptr<cuda::PretendRuntime> runtime_ = std::make_shared<cuda::PretendRuntime>();
  LinkOptions options_;
  std::atomic<int> stop_{0};
};

TEST_F(LinkProbeTest, FindsTheRateOfTheLinkInEveryCell) {
  const LinkMatrix matrix = measure();
  EXPECT_EQ(matrix.gpu, "Pretender 0");
  ASSERT_EQ(matrix.cells.size(), 4U * 2 * 3);
  for (const LinkCell& cell : matrix.cells) {
    EXPECT_LE(cell.low, cell.median);
    EXPECT_LE(cell.median, cell.high);
    if (cell.copy == CopyMode::sync || cell.memory == MemoryMode::pageable) {
      EXPECT_LT(cell.median, 25e9);  // the host's calls are part of it
      EXPECT_GT(cell.median, 10e9);
    } else {
      EXPECT_NEAR(cell.median, 25e9, 0.01e9);
    }
  }
  ASSERT_EQ(matrix.bare.size(), 2U);
  EXPECT_NEAR(matrix.bare[1].median, 25e9, 2.5e9);
  EXPECT_EQ(runtime_->owned(), 0);
}

// A copy from it ends before its call returns, and would wait for a kernel that holds it.
TEST_F(LinkProbeTest, HoldsNoKernelForMemoryThatIsNotLocked) {
  measure();
  const auto held = runtime_->work("spin").size();
  runtime_ = std::make_shared<cuda::PretendRuntime>();
  runtime_->fail("register_host", 0, "cudaErrorMemoryAllocation");
  const LinkMatrix matrix = measure();
  std::size_t fallen = 0, fallen_async = 0;
  for (const LinkCell& cell : matrix.cells) {
    fallen += !cell.fallback.empty();
    fallen_async += !cell.fallback.empty() && cell.copy != CopyMode::sync;
  }
  EXPECT_GT(fallen, 0u);
  const auto each = static_cast<std::size_t>(options_.samples) + 1;  // the first wakes the link
  EXPECT_EQ(runtime_->work("spin").size(), held - each * fallen_async);
}

// Memory that was copied just now is in the cache of the host.
TEST_F(LinkProbeTest, CopiesWalkThroughAPlaceOfTheLargestSize) {
  measure();
  const auto copies = runtime_->work("copy");
  std::set<const void*> small;
  for (const auto& copy : copies) small.insert(copy.from);
  EXPECT_GE(small.size(), 16U);  // 1 MiB in pieces of 64 KiB; places may be had again
}

TEST_F(LinkProbeTest, TimesSixteenCopiesAfterFourOthers) {
  options_.sizes = {Bytes{4} << 20};  // one copy reaches at_least
  const LinkMatrix matrix = measure();
  const auto samples =
      (matrix.cells.size() + matrix.bare.size()) * (static_cast<std::size_t>(options_.samples) + 1);
  EXPECT_EQ(runtime_->work("copy").size(), samples * (4 + 16));
}

TEST_F(LinkProbeTest, RunsOnTheNodeOfTheGpuBeforeItAllocates) {
  const CpuSet before = allowed_cpus();
  const int near = before.back();
  const test::PretendRoot root;
  root.write("sys/bus/pci/devices/0000:6a:00.0/numa_node", "1\n");
  root.write("sys/devices/system/node/node1/cpulist", std::to_string(near) + ",4000\n");
  options_.root = root.path();
  EXPECT_EQ(measure().near_cpus, 0);  // the address is not known
  runtime_->pci_address = "0000:6A:00.0";
  EXPECT_EQ(measure().near_cpus, 1);
  EXPECT_EQ(runtime_->allocated_on, CpuSet{near});
  EXPECT_EQ(allowed_cpus(), before);
}

TEST_F(LinkProbeTest, WritesTextAndJson) {
  const LinkMatrix matrix = measure();
  std::ostringstream text, json;
  write_table(text, make_result(matrix, ""), {});
  write_json(json, make_result(matrix, "1.0"));
  EXPECT_THAT(text.str(), HasSubstr("Pretender 0: host to device at up to 25.0 GB/s"));
  EXPECT_THAT(text.str(), HasSubstr("write-combined"));
  const auto read = nlohmann::json::parse(json.str());
  EXPECT_EQ(read["schema"], "loaderscope.probe-link/1");
  EXPECT_EQ(read["link"].size(), 24U);
  EXPECT_EQ(read["device"]["name"], "Pretender 0");
  for (const auto& row : read["link"]) {  // fields that scripts/gpu-check reads
    EXPECT_TRUE(row["memory"].is_string() && row["copy"].is_string() && row["bytes"].is_number());
    EXPECT_GT(row["bytes_per_s"], 0);
    EXPECT_GT(row["bare_bytes_per_s"], 0);
  }
}

TEST_F(LinkProbeTest, EndsEarlyAndSaysWhyWhereThereIsNoGpu) {
  stop_ = 1;
  EXPECT_TRUE(measure().interrupted);
  runtime_->driver = 0;
  EXPECT_THROW(measure(), RunError);
}

}  // namespace
}  // namespace loaderscope::probe
