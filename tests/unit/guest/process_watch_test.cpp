#include "guest/host/process_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/sleep.h"
#include "base/thread_meter.h"

namespace loaderscope::guest {
namespace {

std::map<std::string, double> values(const ProcessWatch& watch) {
  std::map<std::string, double> values;
  for (const Metric& metric : watch.metrics()) values[metric.name] = metric.value;
  return values;
}

TEST(ProcessWatch, SeesThreadsAndFilesOfAWorker) {
  ProcessWatch watch;
  const JobProcess self = {::getpid(), true};
  watch.receive_report(self, parse_threads({{"pools", {{"cv2", 8}}}, {"runtime", {0, 0}}}));
  watch.look({self});
  const auto seen = values(watch);
  EXPECT_GE(seen.at("workers.threads"), 1);
  EXPECT_EQ(seen.at("workers.cv2_threads"), 8);
  EXPECT_GE(seen.at("files.open"), 1);
  EXPECT_GE(seen.at("files.limit"), seen.at("files.open"));
  EXPECT_GT(seen.at("memory.shm_limit_bytes"), 0);
}

TEST(ProcessWatch, NeedsTwoSamplesForCpuTimeAndPeak) {
  ProcessWatch watch;
  watch.look({{::getpid(), true}});
  EXPECT_EQ(values(watch).count("workers.cpu_s"), 0U);
  EXPECT_EQ(values(watch).count("memory.shm_peak_bytes"), 0U);
}

TEST(ProcessWatch, OmitsCpuTimeOfWorkerSampledOnce) {
  ProcessWatch watch;
  watch.look({{::getpid(), true}});
  while (values(watch).count("memory.shm_peak_bytes") == 0) {
    sleep_until(monotonic_now() + kSecond / 10);
    watch.look({{-1, true}});
  }
  EXPECT_EQ(values(watch).count("workers.cpu_s"), 0U);
  EXPECT_LE(values(watch).at("memory.shm_peak_bytes"), values(watch).at("memory.shm_limit_bytes"));
}

TEST(ProcessWatch, IgnoresEndedProcess) {
  ProcessWatch watch;
  watch.look({{-1, true}});
  const auto seen = values(watch);
  EXPECT_EQ(seen.count("workers.threads"), 0U);
  EXPECT_EQ(seen.count("files.open"), 0U);
}

TEST(ProcessWatch, ReportsNothingBeforeFirstSample) {
  EXPECT_TRUE(ProcessWatch().metrics().empty());
  EXPECT_TRUE(ProcessWatch().notes().empty());
}

}  // namespace
}  // namespace loaderscope::guest
