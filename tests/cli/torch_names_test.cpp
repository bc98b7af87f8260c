// The cause of the waiting has the name that it has in the program: its function, its file and its
// line.
#include <gmock/gmock.h>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class TorchNames : public TorchJobs {
 protected:
  TorchNames() : TorchJobs("names.py") {}

  static double stall_share(const json& result, const char* cause) {
    const json& account = result.at("account");
    return account.at("stall_s").at(cause).get<double>() / account_sum(account);
  }
  static double metric_value(const json& result, const char* metric) {
    return result.at(json::json_pointer(metric)).get<double>();
  }
  static std::string find_evidence(const json& result, const char* finding) {
    for (const json& each : result.at("findings"))
      if (each.at("id") == finding) return each.at("evidence");
    return "";
  }
};

class TorchNamesOfSamplers : public TorchNames, public ::testing::WithParamInterface<int> {};

TEST_P(TorchNamesOfSamplers, SeparatesSamplerFromTransport) {
  const json result = measured("slow_sampler", GetParam());
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(result);
  EXPECT_GT(stall_share(result, "launch"),
            2 * (stall_share(result, "transport") + stall_share(result, "opaque")));
  EXPECT_THAT(find_evidence(result, "slow-sampler"), HasSubstr("Balanced.__iter__ (names.py:24)"));
  EXPECT_THAT(result.at("verdict").at("sentence").get<std::string>(), HasSubstr("sampler"));
}

INSTANTIATE_TEST_SUITE_P(Workers, TorchNamesOfSamplers, ::testing::Values(0, 2),
                         [](const auto& test) { return std::to_string(test.param); });

TEST_F(TorchNames, MeasuresBatchesOfTrainerInEveryEpoch) {
  const json result = measured("two_epochs", 0);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(result);
  EXPECT_GT(stall_share(result, "opaque") + stall_share(result, "contention"), 0.8);
  EXPECT_LT(stall_share(result, "other"), 0.05);
}

// The trainer asks a worker's process for the memory of each batch, which answers between two turns
// of the interpreter that makes the next one.
TEST_F(TorchNames, SeparatesBusyWorkerFromTransport) {
  const json result = measured("python_bound", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(result);
  EXPECT_GE(metric_value(result, "/transport/descriptors"), 1);
  EXPECT_GT(metric_value(result, "/transport/busy_worker_s"), 0.0005);
}

// The loop holds Python's lock. The code after the loop, which releases the lock, is not named.
TEST_F(TorchNames, NamesHottestLinesOfProgram) {
  const json result = measured("python_bound", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  double loop = 0, elsewhere = 0;
  int lines = 0;
  for (const json& detail : result.at("details")) {
    if (detail.at("about") != "opaque" || detail.at("share") == 0) continue;
    ++lines;
    const std::string text = detail.at("text");
    // Now and then a look finds PyTorch's loop between two samples.
    if (text.find("(names.py:") == std::string::npos) elsewhere += detail.at("share").get<double>();
    if (text.starts_with("compute_feature ")) loop += detail.at("share").get<double>();
  }
  EXPECT_GE(lines, 1);
  EXPECT_LE(lines, 3);
  EXPECT_GT(loop, 0.5);
  EXPECT_LE(elsewhere, 0.03);
  EXPECT_THAT(find_evidence(result, "own-code"), HasSubstr("compute_feature (names.py:"));
}

// Most of that time passes within the call, where no line of Python runs.
TEST_F(TorchNames, InterruptsNoSystemCallAndNamesItsLine) {
  const json result = measured("polls", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  double share = 0;
  for (const json& detail : result.at("details"))
    if (detail.at("about") == "opaque" &&
        detail.at("text").get<std::string>().starts_with("wait_in_poll (names.py:"))
      share += detail.at("share").get<double>();
  EXPECT_GT(share, 0.5);
}

TEST_F(TorchNames, SeparatesSlowCollateFromTransport) {
  const json result = measured("slow_collate", 1);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(result);
  EXPECT_GT(stall_share(result, "collate"), 2 * stall_share(result, "transport"));
  // The batch is stacked in shared memory, so that sending it copies nothing.
  EXPECT_FALSE(result.at("transport").contains("copied_share"));
  EXPECT_LT(metric_value(result, "/transport/pickled_bytes"), 10'000);
  double named = 0;
  bool has_shared_memory = false;
  for (const json& detail : result.at("details")) {
    if (detail.at("about") != "collate") continue;
    named += detail.at("share").get<double>();
    const auto text = detail.at("text").get<std::string>();
    has_shared_memory |= text == "making shared memory for the batch";
    if (!has_shared_memory) {
      EXPECT_THAT(text, HasSubstr("stacked_slowly (names.py:"));
    }
  }
  EXPECT_TRUE(has_shared_memory);
  EXPECT_NEAR(named, 1, 1e-6);
}

TEST_F(TorchNames, SeparatesCopiedTensorsFromPickledObjects) {
  const json copied = measured("copied_when_sent", 1);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(copied);
  EXPECT_DOUBLE_EQ(metric_value(copied, "/transport/copied_bytes"), 32 << 20);
  EXPECT_LT(metric_value(copied, "/transport/pickled_bytes"), 10'000);
  EXPECT_GT(metric_value(copied, "/transport/copied_share"),
            4 * metric_value(copied, "/transport/pickled_share"));

  const json pickled = measured("pickled_objects", 1);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(pickled);
  EXPECT_FALSE(pickled.at("transport").contains("copied_share"));
  EXPECT_GT(metric_value(pickled, "/transport/pickled_bytes"), 300'000);
  EXPECT_THAT(find_evidence(pickled, "slow-transport"), HasSubstr("of sending, pickling"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
