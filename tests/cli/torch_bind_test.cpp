// --bind of a user's workers, as the workers themselves see it.
#include <gmock/gmock.h>

#include "base/cpu_set.h"
#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using testing::HasSubstr;

// Each sample is the CPUs that its worker may run on; the answer is printed after the last.
constexpr const char* kProgram = R"(
import os, sys, threading
import torch
class Where(torch.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, i):
        info = torch.utils.data.get_worker_info()
        return info.id, ",".join(map(str, sorted(os.sched_getaffinity(0))))
if __name__ == "__main__":
    seen = set()
    loader = torch.utils.data.DataLoader(Where(), batch_size=4, num_workers=2,
                                         multiprocessing_context=sys.argv[1])
    for numbers, cpus in loader:
        seen.update(zip(numbers.tolist(), cpus))
    print("seen", sorted(seen), "trainer", sorted(os.sched_getaffinity(0)))
)";

class TorchBind : public TorchTest, public testing::WithParamInterface<const char*> {
 protected:
  Ended bound(const std::string& how) {
    return run_binary({"run", "--bind", how, "--json", folder_.path("r.json"), "--force", "--",
                       torch_python(), folder_.write("where.py", kProgram), GetParam()});
  }
  std::string notes() const {
    return nlohmann::json::parse(folder_.read("r.json"))["notes"].dump();
  }
  TestFolder folder_;
};

TEST_P(TorchBind, RunsEachWorkerOnItsCpu) {
  const CpuSet cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU may be used";
  const std::string first = std::to_string(cpus[0]), second = std::to_string(cpus[1]);
  const Ended ended = bound(first + "," + second);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const std::string seen = "seen [(0, '" + first + "'), (1, '" + second + "')] trainer ";
  EXPECT_THAT(ended.out + ended.err, HasSubstr(seen));
  EXPECT_THAT(notes(),
              HasSubstr("workers run on a CPU each, in this order: " + first + ", " + second));
  const Ended alone = bound(second);
  EXPECT_THAT(alone.out + alone.err,
              HasSubstr("seen [(0, '" + second + "'), (1, '" + second + "')]"));
}

TEST_P(TorchBind, RejectsMissingCpuBeforeProgramStarts) {
  const Ended ended = bound("1048575");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("CPU 1048575 is not there or may not be used"));
  EXPECT_THAT(ended.out + ended.err, testing::Not(HasSubstr("seen")));
}

INSTANTIATE_TEST_SUITE_P(StartMethods, TorchBind, testing::Values("fork", "spawn"));

}  // namespace
}  // namespace loaderscope::testing_cli
