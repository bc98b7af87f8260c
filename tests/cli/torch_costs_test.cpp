// Costs of our hooks in a program of PyTorch that is bad for them, in counts. Each has a bound,
// which `loaderscope help overhead` lists.
#include <gtest/gtest.h>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

class TorchCosts : public TorchJobs {
 protected:
  TorchCosts() : TorchJobs("costs.py") {}
};

TEST_F(TorchCosts, StaysWithinBounds) {
  run({"--no-hook-cost"}, {torch_python(), file_});
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  const nlohmann::json counted = said("calls_per_iterator");
  ASSERT_FALSE(counted.empty()) << ended_.err;
  const auto value = [&](const char* name) { return counted.at(name).get<double>(); };
  EXPECT_GT(value("calls_per_batch"), 0);
  EXPECT_LE(value("calls_per_batch"), 45);
  EXPECT_LE(value("calls_per_iterator"), 500);
  EXPECT_LE(value("calls_per_sample"), 6);
  EXPECT_EQ(value("calls_per_copy"), 0);
  EXPECT_GT(value("objects_looked_at"), 0);
  EXPECT_LE(value("objects_looked_at"), 2000);
  // PyTorch itself keeps 2 to 3 with a batch of a worker, and none otherwise.
  EXPECT_LE(value("kept_per_batch"), 0.5);
  EXPECT_LE(value("kept_per_iterator"), 3);
  EXPECT_LE(value("kept_per_batch_in_worker"), 6);
  EXPECT_EQ(value("full_collections_by_workers"), 0);
}

}  // namespace
}  // namespace loaderscope::testing_cli
