// Advice for a program whose loader a framework makes names the setting of that framework. A
// training on CPUs gets no advice on GPUs.
#include <gmock/gmock.h>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class TorchFrameworks : public TorchJobs {
 protected:
  TorchFrameworks() : TorchJobs("frameworks.py") {}

  // Returns the advice of a finding of the report.
  std::string shown(const json& result, const char* finding) {
    for (const json& each : result.at("findings"))
      if (each.at("id") == finding) return each.at("advice");
    return "no " + std::string(finding);
  }
  std::string report(const char* job, int workers) {
    ended_ =
        run_binary({"run", "--verbose", "--", torch_python(), file_, job, std::to_string(workers)});
    return ended_.out;
  }
};

TEST_F(TorchFrameworks, NamesTrainingArgumentsOfTransformers) {
  const json result = measured("transformers", 0);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_THAT(result.at("program").at("made_by"), ElementsAre("accelerate", "transformers"));
  EXPECT_THAT(shown(result, "no-workers"), HasSubstr("TrainingArguments(dataloader_num_workers="));
}

TEST_F(TorchFrameworks, NamesTrainDataloaderOfLightning) {
  const json result = measured("lightning", 0);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_THAT(shown(result, "no-workers"), HasSubstr(") in train_dataloader()"));
}

TEST_F(TorchFrameworks, SuggestsMoreShards) {
  const json result = measured("shards", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_THAT(result.at("program").at("data_of"), ElementsAre("datasets"));
  EXPECT_THAT(shown(result, "too-few-shards"), HasSubstr("to_iterable_dataset(num_shards=2)"));
}

TEST_F(TorchFrameworks, OmitsGpuInTrainingOnCpus) {
  for (const int workers : {0, 1}) {
    const std::string text = report("plain", workers);
    ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
    EXPECT_THAT(text, HasSubstr("raining waits"));
    EXPECT_THAT(text, HasSubstr("DataLoader(..., num_workers="));
    for (const char* word : {"GPU", "pin_memory"}) EXPECT_THAT(text, Not(HasSubstr(word)));
  }
}

}  // namespace
}  // namespace loaderscope::testing_cli
