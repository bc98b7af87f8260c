// Programs that use of PyTorch what the guest uses too: nothing of theirs fails or changes.
#include <gmock/gmock.h>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct OwnHooks {
  const char* name;
  int workers;
  int batches;  // batches that the program must have taken
  const char* said = "";
};

void PrintTo(const OwnHooks& job, std::ostream* out) { *out << job.name << " " << job.workers; }

class TorchOwnHooks : public TorchJobs, public ::testing::WithParamInterface<OwnHooks> {
 protected:
  TorchOwnHooks() : TorchJobs("own_hooks.py") {}
};

TEST_P(TorchOwnHooks, MeasuresJobWithoutChangingIt) {
  const OwnHooks& job = GetParam();
  const json result = measured(job.name, job.workers);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(said("batches").value("batches", 0), job.batches) << ended_.err;
  EXPECT_THAT(ended_.err, Not(HasSubstr("Traceback")));
  EXPECT_THAT(result.at("notes").dump(), HasSubstr(job.said));
  expect_sums_up(result);  // threads that train side by side have steps that overlap
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, TorchOwnHooks,
    ::testing::Values(OwnHooks{"has_optimizer_hooks", 0, 40},
                      OwnHooks{"has_optimizer_hooks", 1, 40}, OwnHooks{"copies_in_threads", 0, 160},
                      OwnHooks{"compiles", 0, 40}, OwnHooks{"sees_all_calls", 0, 40},
                      OwnHooks{"has_a_broken_gpu", 0, 40,
                               "whether the program uses a GPU is not looked into: RuntimeError"},
                      OwnHooks{"has_keys_of_any_size", 0, 40},
                      OwnHooks{"has_keys_of_any_size", 1, 40},
                      OwnHooks{"handles_a_dead_worker", 1, 40}),
    [](const auto& test) {
      return std::string(test.param.name) + "_" + std::to_string(test.param.workers);
    });

}  // namespace
}  // namespace loaderscope::testing_cli
