// DataLoaders with each option that PyTorch has, and flags of ours that take their place.
#include <gmock/gmock.h>

#include <algorithm>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class TorchOptions : public TorchJobs {
 protected:
  TorchOptions() : TorchJobs("options.py") {}
};

class TorchOptionsOfAllKinds : public TorchOptions,
                               public ::testing::WithParamInterface<const char*> {};

TEST_P(TorchOptionsOfAllKinds, CountsEveryStep) { expect_all_measured(measured(GetParam(), 2)); }

INSTANTIATE_TEST_SUITE_P(Options, TorchOptionsOfAllKinds,
                         ::testing::Values("forkserver", "everything", "samplers", "many", "parts",
                                           "resumable"),
                         [](const auto& test) { return std::string(test.param); });

// The hooks are in them although they begin as new programs.
TEST_F(TorchOptions, MeasuresSpawnedWorkers) {
  const json result = measured("spawn", 1);
  expect_all_measured(result);
  EXPECT_EQ(result.at("config").at("mp_context"), "spawn");
  EXPECT_GE(seconds_at(result.at("stages").at("opaque"), "p50_s"), 0.001);
}

TEST_F(TorchOptions, CountsTensorsOfBatchWithoutWorkers) {
  EXPECT_EQ(measured("three_tensors", 0).at("transport").at("tensors"), 3);
  EXPECT_FALSE(measured("three_tensors", 1).at("transport").contains("tensors"));
}

// The gain of workers was not measured, so the finding has no figure.
TEST_F(TorchOptions, SuggestsWorkersWithoutPrediction) {
  const json result = measured("many", 0);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  const json& findings = result.at("findings");
  const auto found = std::find_if(findings.begin(), findings.end(), [](const json& finding) {
    return finding.at("id") == "no-workers";
  });
  ASSERT_NE(found, findings.end()) << findings.dump(1) << result.at("unseen").dump(1);
  // Epochs are short: new workers in each epoch would cost time.
  EXPECT_EQ(found->at("changes"), json({"num-workers=2", "persistent-workers=true"}));
  EXPECT_TRUE(found->at("predicted").is_null());
  EXPECT_THAT(found->at("command").get<std::string>(), HasSubstr(" --num-workers 2"));
}

// A batch takes 16 ms, without separate samples. Two workers give one every 8 ms.
class TorchWholeBatches : public TorchOptions, public ::testing::WithParamInterface<const char*> {};

TEST_P(TorchWholeBatches, PredictsInWholeBatches) {
  const json result = measured(GetParam(), 1);
  expect_all_measured(result);
  EXPECT_EQ(result.at("config").at("batch_size"), 8);
  EXPECT_EQ(result.at("reservoir").at(0).at(1), -8);
  expect_gain_of_two();
}

INSTANTIATE_TEST_SUITE_P(Of, TorchWholeBatches,
                         ::testing::Values("batches_at_once", "sampled_batches",
                                           "streamed_batches"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(TorchOptions, ReportsUselessPinningWithoutGpu) {
  const Environment no_gpu("CUDA_VISIBLE_DEVICES", "");
  const json result = measured("pins", 2, {"--no-in-order"});
  expect_all_measured(result);
  EXPECT_EQ(result.at("config").at("memory"), "pageable");
  EXPECT_EQ(result.at("config").at("in_order"), false);
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("pin_memory=True does nothing here"));
}

TEST_F(TorchOptions, ReplacesEachArgumentByItsFlag) {
  const json result =
      measured("whole_loader", 0,
               {"--num-workers", "1", "--prefetch-factor", "3", "--persistent-workers",
                "--no-in-order", "--mp-context", "forkserver", "--drop-last", "--shuffle",
                "--batch-size", "6", "--memory", "pageable"});
  expect_all_measured(result);
  const json& config = result.at("config");
  EXPECT_EQ(config.at("num_workers"), 1);
  EXPECT_EQ(config.at("prefetch_factor"), 3);
  EXPECT_EQ(config.at("persistent_workers"), true);
  EXPECT_EQ(config.at("in_order"), false);
  EXPECT_EQ(config.at("mp_context"), "forkserver");
  EXPECT_EQ(config.at("drop_last"), true);
  EXPECT_EQ(config.at("shuffle"), true);
  EXPECT_EQ(config.at("batch_size"), 6);
  EXPECT_EQ(said("batches").value("batches", 0), 2 * (160 / 6));
}

TEST_F(TorchOptions, RejectsFlagDecidedByProgramAndNamesLine) {
  measured("samplers", 2, {"--batch-size", "8"});
  EXPECT_EQ(ended_.exit_code, 1);
  EXPECT_THAT(ended_.err, HasSubstr("tests/torch/options.py:"));
  EXPECT_THAT(ended_.err, HasSubstr("gives DataLoader a batch_sampler, which decides it"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
