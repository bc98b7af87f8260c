// Delays injected into a user's loader, and runs without the loader that prove its cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "cli/torch_python.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class TorchProof : public TorchTest {
 protected:
  static Words loader_words(const std::string& name, const Words& more) {
    Words words = {"run",       "--loader", torch_job() + ":" + name, "--python", torch_python(),
                   "--compute", "1ms"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
};

TEST_F(TorchProof, MeasuresDelaysInInjectedStages) {
  const std::string images = folder_.path("images");
  ASSERT_EQ(run_binary({"data", "make", images, "--count", "16", "--size", "64x48"}).exit_code, 0);
  const Environment job_images("JOB_IMAGES", images);
  const std::vector<std::pair<std::string, double>> delays = {
      {"read", 0.012},           {"decode", 0.012},  {"augment", 0.012},
      {"opaque", 0.012},         {"collate", 0.048}, {"transport", 0.024},
      {"transport.recv", 0.024}, {"launch", 0.048},  {"h2d", 0.048}};
  Words flags = {"--in-flight", "1", "--copy", "sync", "--steps", "6", "--warmup", "2"};
  for (const auto& [stage, seconds] : delays) {
    flags.emplace_back("--inject");
    flags.push_back(stage + "=+" + std::to_string(std::lround(1e3 * seconds)) + "ms");
  }
  flags.insert(flags.end(), {"--json", "-"});
  const Ended ended = run_binary(loader_words("make_photo_loader", flags));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json result = json::parse(ended.out);
  // Delays take 48 ms of each step. A sleep corrects the excess of the sleep before it. A crowded
  // machine adds more.
  // While the trainer receives, launches and copies, 120 of the 192 ms of the next batch's samples
  // pass.
  const double steps = result.at("window").at("steps");
  const auto stall = [&](const char* cause) {
    return result.at("account").at("stall_s").at(cause).get<double>() / steps;
  };
  for (const char* cause : {"collate", "transport", "h2d", "launch"})
    EXPECT_GE(stall(cause), 0.036) << cause;
  for (const char* cause : {"read", "decode", "augment", "opaque"})
    EXPECT_GE(stall(cause), 0.012) << cause;
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("not measured: delays are injected"));
}

TEST_F(TorchProof, RejectsDelayWithoutHook) {
  const Ended ended = run_binary({"run", "--inject", "pin=+1ms", "--steps", "100000", "--",
                                  torch_python(), torch_job(), "plain_forever", "2"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("inject = pin=+1ms: stage pin had no hook in this run"));
  EXPECT_EQ(ended.out, "");
}

// 8 ms for a batch, 1 ms of compute.
TEST_F(TorchProof, ReplacesLoaderByDeliveredBatches) {
  const Ended ended =
      run_binary(loader_words("make_loader", {"--prove=all", "--steps", "20", "--json", "-"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json cases = json::parse(ended.out).at("proof").at("cases");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].at("name"), "delivered");
  EXPECT_EQ(cases[1].at("name"), "loader");
  for (const json& row : cases) ASSERT_EQ(row.at("runs").size(), 5u) << row;
  for (std::size_t round = 0; round < 5; ++round) {
    EXPECT_GT(cases[0].at("runs")[round].at("samples_per_s").get<double>(),
              cases[1].at("runs")[round].at("samples_per_s").get<double>());
  }
}

TEST_F(TorchProof, RunsCommandAgainForProof) {
  const Ended ended = run_binary(
      {"run", "--prove", "--steps", "40", "--", torch_python(), torch_job(), "plain_forever", "2"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("delivered batches in its place"));
  EXPECT_THAT(ended.err, HasSubstr("--prove runs the command again"));
}

TEST(SelftestOfALoader, SaysWhatIsWrongWithIt) {
  const Ended ended = run_binary({"selftest", "--loader", "/no/such.py:f"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("/no/such.py:f: expected FILE.py:FUNCTION"));
  const Ended python = run_binary({"selftest", "--python", "python3"});
  EXPECT_EQ(python.exit_code, 64);
  EXPECT_THAT(python.err, HasSubstr("has no effect without a loader"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
