// Programs that end badly, or do to their process what a measurement does not expect: one sentence,
// the right exit code, and nothing left behind.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// A worker that is killed leaves a folder of Python's own, with and without us.
bool holds_nothing_of_ours(const TestFolder& folder) {
  const std::filesystem::directory_iterator files(folder.path(""));
  return std::none_of(begin(files), end(files), [](const auto& entry) {
    return entry.path().filename().string().starts_with("loaderscope");
  });
}

// Processes that still have it as their folder for temporary files.
int processes_with(const TestFolder& temporary) {
  const std::string variable = "TMPDIR=" + temporary.path("");
  int found = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    std::ifstream file(entry.path() / "environ");
    std::ostringstream environment;
    environment << file.rdbuf();
    found += environment.str().find(variable) != std::string::npos;
  }
  return found;
}

struct BadEnd {
  const char* job;
  int exit_code;
  const char* said;
};

void PrintTo(const BadEnd& end, std::ostream* out) { *out << end.job; }

class TorchEnds : public TorchJobs, public ::testing::WithParamInterface<BadEnd> {
 protected:
  TorchEnds() : TorchJobs("bad_ends.py") {}
};

TEST_P(TorchEnds, AreOneSentenceAndLeaveNothing) {
  const TestFolder temporary;
  const Environment folder("TMPDIR", temporary.path(""));
  measured(GetParam().job, 2);
  EXPECT_EQ(ended_.exit_code, GetParam().exit_code) << ended_.err;
  EXPECT_THAT(ended_.err, HasSubstr(GetParam().said));
  EXPECT_TRUE(holds_nothing_of_ours(temporary));
  EXPECT_EQ(processes_with(temporary), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, TorchEnds,
    ::testing::Values(
        BadEnd{"in_collate", 1, "worker 0: ValueError: samples do not fit; its traceback is above"},
        BadEnd{"in_worker_init", 1, "ValueError: no such device; its traceback is above"},
        BadEnd{"in_constructor", 1, "ended with exit code 1; what it said of it is above"},
        BadEnd{"worker_exits", 1, "ended with exit code 3"},
        BadEnd{"exits_with_7", 1, "ended with exit code 7"},
        BadEnd{"trainer_is_killed", 1, "memory ran out: look at dmesg"},
        BadEnd{"leaves_shared_memory", 1, "was killed by signal 9"},
        BadEnd{"daemonises", 1, "start it in the foreground"},
        BadEnd{"catches_interrupts", 130, "goes on"}, BadEnd{"ignores_all", 130, "goes on"}),
    [](const auto& of) { return std::string(of.param.job); });

class TorchOddities : public TorchJobs {
 protected:
  TorchOddities() : TorchJobs("bad_ends.py") {}
};

TEST_F(TorchOddities, AProgramThatClosesOurLineIsMeasuredToItsEnd) {
  const json result = measured("closes_files_later", 0);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("window").at("steps"), 45);
}

TEST_F(TorchOddities, SpawnedWorkersWithoutOurEnvironmentWork) {
  const json result = measured("clears_environment", 1);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("stages").at("opaque").at("count"), 45 * 8);
}

TEST_F(TorchOddities, AnotherLoaderAfterAFailedOneIsMeasured) {
  const json result = measured("in_a_sample_that_is_caught", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("window").at("steps"), 45);
}

// These need no torch.

TEST(GuestFolder, OfAFullDiskIsTakenAwayAgain) {
  const TestFolder temporary;
  const Environment folder("TMPDIR", temporary.path(""));
  const Ended ended =
      run_program("/bin/sh", {"-c", "ulimit -f 1; exec " + binary() + " run -- true"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("cannot be written"));
  EXPECT_EQ(temporary.files(), 0);
}

TEST(GuestPackage, RunsTheUsersOwnSiteCustomizeAsItself) {
  const TestFolder own;
  own.write("sitecustomize.py", "import os\nprint('mine', os.path.dirname(__file__))\n");
  const Environment path("PYTHONPATH", own.path(""));
  const Ended ended = run_binary({"run", "--", "python3", "-c", "pass"});
  EXPECT_THAT(ended.err, HasSubstr("mine " + own.path("").substr(0, own.path("").size() - 1)));
}

// A package by the name of torch that is not what it should be.
TEST(GuestPackage, ATorchThatIsNotUnderstoodIsLeftAlone) {
  const TestFolder other;
  other.write("loader.py", R"(class _BaseDataLoaderIter:
    def __next__(self): raise StopIteration
class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader): self.left = 3
    def __next__(self):
        self.left -= 1
        if self.left < 0: raise StopIteration
        return self.left
class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter): pass
class DataLoader:
    def __init__(self, dataset): self.dataset = dataset
)");
  const std::string program = other.write("program.py", R"(import sys, types
for name in ("torch", "torch.utils", "torch.utils.data"): sys.modules[name] = types.ModuleType(name)
sys.modules["torch.utils.data"].__path__ = []
import importlib.util, os
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "torch.utils.data.dataloader":
            return importlib.util.spec_from_file_location(name, os.path.join(os.path.dirname(__file__), "loader.py"))
sys.meta_path.append(Finder())
from torch.utils.data import dataloader
taken = dataloader._SingleProcessDataLoaderIter(dataloader.DataLoader([1]))
print("took", next(taken), next(taken))
)");
  const Ended ended = run_binary({"run", "--", "python3", program});
  EXPECT_THAT(ended.err, HasSubstr("took 2 1"));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("without taking a batch"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
