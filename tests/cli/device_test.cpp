// The chosen device, and the reason in the answer if an existing GPU cannot be used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const char* const kTooOld = "the NVIDIA driver is too old: it supports CUDA 11.2, and this program";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class OldDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (old_driver().empty()) GTEST_SKIP() << "built without a CUDA toolkit";
  }
  Ended run(const Words& more) const {
    Words words = {"run",       "--workers", "1",       "--cost", "decode=100us:sleep",
                   "--compute", "2ms",       "--steps", "30"};
    words.insert(words.end(), more.begin(), more.end());
    return run_binary(words);
  }
  const Environment driver_{"LD_LIBRARY_PATH", old_driver()};
};

TEST_F(OldDriver, ReportsOldDriverInFirstLineOfRun) {
  const Ended ended = run({});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(first_line(ended.out), StartsWith(std::string("Simulated (") + kTooOld));
  EXPECT_THAT(first_line(ended.out), HasSubstr("): the GPU "));
}

TEST_F(OldDriver, KeepsReasonInTheResult) {
  const json result = json::parse(run({"--json", "-"}).out);
  EXPECT_THAT(result.at("machine").at("unusable_gpu"), StartsWith(kTooOld));
  EXPECT_THAT(result.at("verdict").at("sentence"), HasSubstr(kTooOld));
}

TEST_F(OldDriver, OmitsReasonForRequestedSimulation) {
  EXPECT_THAT(first_line(run({"--device", "sim"}).out), StartsWith("Simulated: "));
}

TEST_F(OldDriver, RejectsRequestedGpu) {
  const Ended ended = run({"--device", "cuda"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr(kTooOld));
}

TEST_F(OldDriver, ReportsOldDriverInListOfDevices) {
  EXPECT_THAT(first_line(run_binary({"list", "device"}).out),
              StartsWith(std::string("device (--device): ") + kTooOld));
  const json families = json::parse(run_binary({"list", "device", "--json"}).out);
  EXPECT_THAT(families.at(0).at("alarm"), StartsWith(kTooOld));
  EXPECT_THAT(first_line(run_binary({"list", "memory"}).out), Not(HasSubstr("driver")));
}

TEST_F(OldDriver, ReportsOldDriverInListOfDecodeWays) {
  const json rows = json::parse(run_binary({"list", "decode", "--json"}).out).at(0).at("rows");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_TRUE(rows.at(0).at("available"));
  for (std::size_t way : {1U, 2U, 3U}) EXPECT_THAT(rows.at(way).at("reason"), StartsWith(kTooOld));
}

// The reason of each way is that of the device, if there is no GPU.
TEST(ListDecode, NamesWaysAndReasons) {
  const json devices = json::parse(run_binary({"list", "device", "--json"}).out).at(0).at("rows");
  const json ways = json::parse(run_binary({"list", "decode", "--json"}).out).at(0).at("rows");
  std::vector<std::string> names;
  for (const json& way : ways) names.push_back(way.at("name"));
  EXPECT_EQ(names, (std::vector<std::string>{"cpu", "gpu", "hw", "split"}));
  EXPECT_TRUE(ways.at(0).at("available"));
  if (devices.at(0).at("available")) GTEST_SKIP() << "there is a GPU here";
  for (std::size_t way : {1U, 2U, 3U})
    EXPECT_EQ(ways.at(way).at("reason"), devices.at(0).at("reason"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
