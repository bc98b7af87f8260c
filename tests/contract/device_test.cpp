// The contract of Device on every row of the table, and on the CUDA device without a GPU.
#include <gmock/gmock.h>

#include <cstring>

#include "contract/device_contract.h"
#include "device/cuda/cuda_device.h"
#include "loaderscope/errors.h"
#include "unit/device/pretend_runtime.h"
#include "unit/device/run_steps.h"

namespace loaderscope {
namespace {

using cuda::PretendRuntime;
using ::testing::HasSubstr;

// Calls take a microsecond each on the scripted clock. A float of milliseconds rounds real times.
constexpr Nanos kScripted = 20 * kMicrosecond, kMeasured = 200 * kMicrosecond;

std::vector<DeviceCase> rows_of_table() {
  std::vector<DeviceCase> cases;
  for (const DeviceRow& row : device_table()) {
    if (row.make == nullptr) continue;  // the measured program is the device
    cases.push_back(case_of_row(row, device_kind(row.row.name) == DeviceKind::gpu ? kMeasured : 0));
  }
  return cases;
}

DeviceCase pretended_gpu(const std::string& name, PretendRuntime::Time time, Nanos slack) {
  DeviceCase one{name, DeviceKind::gpu, slack, [] { return std::nullopt; }, {}};
  one.make = [time](const RunConfig& config, const std::atomic<int>& stop) {
    const auto runtime = std::make_shared<PretendRuntime>(time);
    return DeviceRun{cuda::make_devices(runtime, config, stop),
                     [runtime] { return runtime->now(); }};
  };
  return one;
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceContract, testing::ValuesIn(rows_of_table()), name_of_case);
INSTANTIATE_TEST_SUITE_P(
    PretendedGpu, DeviceContract,
    testing::Values(pretended_gpu("scripted_time", PretendRuntime::Time::scripted, kScripted),
                    pretended_gpu("real_time", PretendRuntime::Time::real, kMeasured)),
    name_of_case);

TEST(DeviceTable, NamesMeasuredProgramAsOnlyRowWithoutDevice) {
  for (const DeviceRow& row : device_table())
    EXPECT_EQ(row.make == nullptr, device_kind(row.row.name) == DeviceKind::program)
        << row.row.name;
}

// --- only the pretended GPU lets a test see this ---

class PretendedGpuContract : public testing::Test {
 protected:
  PretendedGpuContract() {
    config_.trainer.device.value = "cuda";
    config_.trainer.compute.set({});
    config_.data.source.value = "files";
    config_.data.paths.value = {"photos"};
    config_.loader.batch_size.value = 2;
    config_.image.size.value = 4;
    device_ = std::move(cuda::make_devices(runtime_, config_, stop_).front());
  }

  Bytes batch_bytes() const { return config_.loader.batch_size * config_.delivered_sample_bytes(); }

  std::shared_ptr<PretendRuntime> runtime_ = std::make_shared<PretendRuntime>();
  std::atomic<int> stop_{0};
  RunConfig config_;
  std::unique_ptr<Device> device_;
};

TEST_F(PretendedGpuContract, DeliversBytesFromSlotsOfEveryMode) {
  const auto bytes = static_cast<std::size_t>(batch_bytes());
  std::int64_t step = 0;
  std::vector<std::unique_ptr<HostSlots>> all;  // kept: freeing slots ends the device's work
  for (const MemoryRow& row : memory_table()) {
    SCOPED_TRACE(row.row.name);
    HostSlots* slots = all.emplace_back(device_->make_slots(row.mode, 2, batch_bytes())).get();
    for (std::size_t slot = 0; slot < 2; ++slot, ++step) {
      std::memset(slots->slot(slot), static_cast<int>(step + 1), bytes);
      CopyJob job;
      job.step = step;
      job.host = slots->slot(slot);
      job.bytes = batch_bytes();
      job.caller_copies = slots->locked_bytes() == 0;
      ASSERT_TRUE(device_->submit_copy(job));
      device_->submit_compute(step, kMillisecond);
      ASSERT_TRUE(device_->wait_computed(step));
      ASSERT_TRUE(device_->collect());
      const PretendRuntime::Work copy = runtime_->work("copy").back();
      EXPECT_EQ(copy.from, slots->slot(slot));
      EXPECT_EQ(std::memcmp(copy.place, slots->slot(slot), bytes), 0);
    }
  }
}

TEST_F(PretendedGpuContract, CountsNoStepThatWasCutOff) {
  CopyJob job;
  job.duration = kMillisecond;
  ASSERT_TRUE(device_->submit_copy(job));
  device_->submit_compute(0, 3600 * kSecond);
  device_->cancel();
  EXPECT_FALSE(device_->wait_computed(0));
  EXPECT_FALSE(device_->collect());
}

TEST_F(PretendedGpuContract, ThrowsRunErrorWhenGpuFails) {
  CopyJob job;
  job.duration = kMillisecond;
  ASSERT_TRUE(device_->submit_copy(job));
  device_->submit_compute(0, kMillisecond);
  for (const char* call : {"query", "record", "spin"})
    runtime_->fail(call, 0, "cudaErrorECCUncorrectable");
  const auto expect_lost = [](const auto& act) {
    try {
      act();
      ADD_FAILURE() << "no error";
    } catch (const RunError& error) {
      EXPECT_THAT(error.what(), HasSubstr("GPU 0"));
    }
  };
  expect_lost([&] { device_->wait_copied(0); });
  expect_lost([&] { device_->wait_computed(0); });
  expect_lost([&] { device_->collect(); });
  job.step = 1;
  expect_lost([&] { device_->submit_copy(job); });
  expect_lost([&] { device_->submit_compute(0, kMillisecond); });
}

}  // namespace
}  // namespace loaderscope
