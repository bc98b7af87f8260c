// Drives a device as the trainer does.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "loaderscope/device.h"

namespace loaderscope {

inline void expect_near(Nanos value, Nanos expected, Nanos slack) {
  EXPECT_LE(value, expected + slack);
  EXPECT_GE(value, expected - slack);
}

// Each step copies as `copy` says and computes for `compute`; before a step it waits for the one
// `in-flight` earlier.
inline std::vector<DeviceTimes> run_steps(Device& device, const RunConfig& config,
                                          std::int64_t steps, CopyJob copy, Nanos compute) {
  std::vector<DeviceTimes> times;
  const auto collect = [&] {
    while (const auto known = device.collect()) times.push_back(*known);
  };
  for (std::int64_t step = 0; step < steps; ++step) {
    if (step >= config.trainer.in_flight) {
      EXPECT_TRUE(device.wait_computed(step - config.trainer.in_flight));
      collect();
    }
    copy.step = step;
    EXPECT_TRUE(device.submit_copy(copy));
    if (config.trainer.copy == CopyMode::sync) {
      EXPECT_TRUE(device.wait_copied(step));
    }
    device.submit_compute(step, compute);
    collect();
  }
  EXPECT_TRUE(device.wait_computed(steps - 1));
  collect();
  EXPECT_EQ(std::ssize(times), steps);
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_EQ(times[i].step, static_cast<std::int64_t>(i));
  return times;
}

}  // namespace loaderscope
