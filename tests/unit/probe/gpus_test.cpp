// GPUs of a runtime and of a library that only pretend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "loaderscope/errors.h"
#include "probe/measurement.h"
#include "unit/device/pretend_runtime.h"
#include "unit/machine/pretend_root.h"

namespace loaderscope::probe {
namespace {

using ::testing::HasSubstr;

class GpusTest : public testing::Test {
 protected:
  GpusTest() {
    options_.root = root_.path();
    options_.quick = true;
  }

  Outcome measure() {
    const ProbedData data("", "", 1 << 20, stop_);
    const Cpus cpus = read_cpus(options_.root);
    Outcome outcome;
    try {
      measure_gpus({options_, stop_, cpus, data, monotonic_now() + kSecond}, outcome);
    } catch (const RunError& error) {
      outcome.why_not = error.what();
    }
    return outcome;
  }

  Outcome measure_together() {
    const ProbedData data("", "", 1 << 20, stop_);
    const Cpus cpus = read_cpus("/");
    Outcome outcome;
    measure_gpus_together({options_, stop_, cpus, data, monotonic_now() + kSecond}, outcome);
    return outcome;
  }

  test::PretendRoot root_;
  ProfileOptions options_;
  std::atomic<int> stop_{0};
};

TEST_F(GpusTest, ReadsGpusFromNvmlWithoutCuda) {
  options_.nvml = LOADERSCOPE_PRETEND_NVML;
  const Outcome outcome = measure();
  ASSERT_EQ(outcome.lines.size(), 2U);
  EXPECT_EQ(outcome.lines[0], "GPU 0: Pretender, PCIe gen4 x16, decodes video");
  EXPECT_EQ(outcome.lines[1], "GPU 1: Pretender, PCIe gen4 x8, can x16, decodes video");
  EXPECT_THAT(outcome.notes.front(), HasSubstr("GPU 1: its link has 8 of 16 lanes"));
  EXPECT_EQ(outcome.answer, "2 GPUs");
  EXPECT_TRUE(outcome.ceilings.empty());
}

TEST_F(GpusTest, MeasuresCopiesToEach) {
  options_.nvml = "libnowhere.so.1";
  options_.runtime = std::make_shared<cuda::PretendRuntime>();
  const Outcome outcome = measure();
  EXPECT_EQ(outcome.why_not, "");
  ASSERT_EQ(outcome.ceilings.size(), 1U);
  EXPECT_NEAR(outcome.ceilings[0].per_s, 25e9, 0.1e9);
  EXPECT_THAT(outcome.lines.front(), HasSubstr("pinned 25.0 GB/s"));
}

// The first call of a process makes the context, which takes longer than any page-locking.
TEST_F(GpusTest, MeasuresPageLockingAfterContextStarts) {
  const auto runtime = std::make_shared<cuda::PretendRuntime>();
  runtime->context_takes = kSecond / 2;
  runtime->lock_rate = 4;
  options_.runtime = runtime;
  const ProbedData data("", "", 1 << 20, stop_);
  const Cpus cpus = read_cpus("/");
  Outcome outcome;
  measure_memory({options_, stop_, cpus, data, monotonic_now() + kSecond / 10}, outcome);
  EXPECT_THAT(outcome.lines.back(), HasSubstr("; page-locking 4.00 GB/s (cudaHostRegister)"));
  EXPECT_GT(runtime->calls("register_host"), 1);
  EXPECT_EQ(runtime->owned(), 0);
}

TEST(Measurements, ForksProcessesBeforeCudaHasContext) {
  const std::span<const Measurement> rows = measurement_table();
  const auto place = [&](std::string_view name) {
    return std::find_if(rows.begin(), rows.end(),
                        [&](const Measurement& row) { return row.row.name == name; });
  };
  for (const char* cuda_row : {"memory", "gpu", "gpus-together", "jpeg-engines", "augment-kernel",
                               "gpu-share", "video-engines", "gpu-storage"})
    EXPECT_LT(place("processes"), place(cuda_row)) << cuda_row;
}

TEST_F(GpusTest, ReportsReasonWithoutGpu) {
  options_.nvml = "libnowhere.so.1";
  const Outcome outcome = measure();
  EXPECT_THAT(outcome.why_not, HasSubstr("built without CUDA, and no NVML here"));
  EXPECT_EQ(outcome.answer, "no GPU");
}

// The copies of a pretended runtime take no time of the host, so rates are not checked.
TEST_F(GpusTest, MeasuresAllAtOnceAloneAndUnderLoad) {
  const auto runtime = std::make_shared<cuda::PretendRuntime>();
  runtime->devices = 2;
  options_.runtime = runtime;
  const Outcome outcome = measure_together();
  std::vector<std::string> names;
  for (const Figure& figure : outcome.figures) {
    names.push_back(figure.name);
    EXPECT_GT(figure.value, 0) << figure.name;
  }
  EXPECT_THAT(
      names, ::testing::IsSupersetOf({"all_pinned", "launch_s", "launch_half_s", "launch_full_s"}));
  EXPECT_THAT(outcome.lines.front(), HasSubstr("2 GPUs at once: "));
  EXPECT_THAT(outcome.notes.back(), HasSubstr("NUMA node"));
}

// The copies of a single GPU are those of its link.
TEST_F(GpusTest, SkipsConcurrentCopiesOfSingleGpu) {
  options_.runtime = std::make_shared<cuda::PretendRuntime>();
  const Outcome outcome = measure_together();
  for (const Figure& figure : outcome.figures) EXPECT_NE(figure.name, "all_pinned");
  for (const std::string& line : outcome.lines) {
    EXPECT_THAT(line, ::testing::AnyOf(::testing::StartsWith("copies to the GPU "),
                                       ::testing::StartsWith("a launch and its end at rest "),
                                       ::testing::StartsWith("GPU 0 from its own NUMA node ")));
    EXPECT_THAT(line, ::testing::Not(HasSubstr("at once")));
  }
}

TEST_F(GpusTest, RejectsConcurrentMeasurementWithoutCuda) {
  const ProbedData data("", "", 1 << 20, stop_);
  const Cpus cpus = read_cpus("/");
  Outcome outcome;
  EXPECT_THROW(
      measure_gpus_together({options_, stop_, cpus, data, monotonic_now() + kSecond}, outcome),
      RunError);
}

}  // namespace
}  // namespace loaderscope::probe
