// The contract of Device as tests. A program that lists this file's .cpp chooses the devices.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_meter.h"
#include "loaderscope/device.h"

namespace loaderscope {

// The devices of one run and the clock that they live on.
struct DeviceRun {
  std::vector<std::unique_ptr<Device>> devices;
  std::function<Nanos()> now = monotonic_now;
};

// One kind of device that must keep the contract.
struct DeviceCase {
  std::string name;
  DeviceKind kind;
  Nanos slack = 0;  // tolerance for times on the device's own clock
  std::function<std::optional<std::string>()> reason_not_available;
  std::function<DeviceRun(const RunConfig&, const std::atomic<int>& stop)> make;
};

inline std::ostream& operator<<(std::ostream& out, const DeviceCase& device) {
  return out << device.name;
}

inline std::string name_of_case(const testing::TestParamInfo<DeviceCase>& info) {
  return info.param.name;
}

// The row of the table as a case. `slack` is 0 for a device without a clock of its own.
DeviceCase case_of_row(const DeviceRow& row, Nanos slack);

class DeviceContract : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override {
    if (const auto reason = GetParam().reason_not_available()) GTEST_SKIP() << *reason;
    config_.trainer.compute.set({});
  }

  // Makes the devices of all ranks again, with the present configuration.
  void make();
  Device& device(std::size_t rank = 0) { return *run_.devices.at(rank); }
  Nanos now() const { return run_.now(); }

  bool computes() const { return GetParam().kind != DeviceKind::none; }
  // The error of the device's times, which it reports, with what a busy machine adds.
  Nanos slack() const;
  // `later` is not before `earlier`.
  void expect_order(Nanos earlier, Nanos later) const { EXPECT_LE(earlier, later + slack()); }

  std::atomic<int> stop_{0};
  RunConfig config_;
  DeviceRun run_;
};

}  // namespace loaderscope
