// Work before the first batch that is trained with.
#include <gmock/gmock.h>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class TorchStarts : public TorchJobs {
 protected:
  TorchStarts() : TorchJobs("starts.py") {}

  static double metric(const json& result, const std::string& group, const std::string& name) {
    return result.at(group).at(name).get<double>();
  }
  static std::string finding(const json& result, const std::string& id) {
    for (const json& finding : result.at("findings"))
      if (finding.at("id") == id) return finding.at("evidence").get<std::string>();
    return "";
  }
};

// 120 batches of 8 samples of 2 ms, by two workers: 0.96 s. Those that are trained with are
// measured alone.
TEST_F(TorchStarts, SeparatesSkippedBatchesFromTraining) {
  const json result = measured("resumed", 2, {"--warmup", "2", "--steps", "20"});
  const json& first = result.at("first_batch");
  EXPECT_GT(first.at("by_cause").at("skip"), 0.9);
  EXPECT_LT(first.at("by_cause").at("skip"), first.at("wall_s"));
  EXPECT_EQ(metric(result, "skip", "batches"), 120);
  EXPECT_EQ(result.at("window").at("steps"), 20);
  EXPECT_GT(result.at("device").at("busy"), 0.25);  // skipped batches would count as 0
  EXPECT_THAT(finding(result, "first-epoch-startup"),
              HasSubstr("120 batches were made and thrown"));
}

TEST_F(TorchStarts, NamesDataSetPickledForEachWorker) {
  const json result = measured("spawned", 2, {"--steps", "20"});
  EXPECT_GT(metric(result, "startup", "pickled_bytes"), 40e6);
  EXPECT_GT(metric(result, "startup", "unpickle_s"), 0.02);
  EXPECT_GT(metric(result, "startup", "imports_s"), 0.2);
  const std::string evidence = finding(result, "large-pickled-data-set");
  EXPECT_THAT(evidence, HasSubstr("which start one after another"));
  EXPECT_THAT(evidence, HasSubstr("most of it is WithNames.names"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
