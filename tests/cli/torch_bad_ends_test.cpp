// Programs that end badly, or do to their process what a measurement does not expect: one sentence,
// the right exit code, and no files or processes left.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

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

class TorchEnds : public TorchJobs, public ::testing::WithParamInterface<BadEnd> {
 protected:
  TorchEnds() : TorchJobs("bad_ends.py") {}
};

TEST_P(TorchEnds, ReportsEndInOneSentenceAndCleansUp) {
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
        BadEnd{"failing_collate",
               "worker 0: ValueError: samples do not fit; its traceback is above"},
        BadEnd{"failing_worker_init", "ValueError: no such device; its traceback is above"},
        BadEnd{"failing_constructor", "ended with exit code 1; what it said of it is above"},
        BadEnd{"worker_exits", "ended with exit code 3"},
        BadEnd{"exits_with_7", "ended with exit code 7"},
        BadEnd{"trainer_is_killed", "memory ran out: look at dmesg"},
        BadEnd{"leaves_shared_memory", "was killed by signal 9"},
        BadEnd{"catches_interrupts", "goes on", 130}, BadEnd{"ignores_all", "goes on", 130},
        BadEnd{"ignores_all_but_a_hangup", "goes on", 130}),
    [](const auto& test) { return std::string(test.param.job); });

class TorchOddities : public TorchJobs {
 protected:
  TorchOddities() : TorchJobs("bad_ends.py") {}
};

TEST_F(TorchOddities, MeasuresProgramThatClosesOurSocket) {
  const json result = measured("closes_files_later", 0);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("window").at("steps"), 45);
}

TEST_F(TorchOddities, MeasuresSpawnedWorkersWithoutOurEnvironment) {
  const json result = measured("clears_environment", 1);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("stages").at("opaque").at("count"), 45 * 8);
}

TEST_F(TorchOddities, MeasuresLoaderAfterFailedOne) {
  const json result = measured("caught_sample_error", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("window").at("steps"), 45);
}

struct Lasting {
  const char* job;
  int exit_code;
  const char* said;
};

void PrintTo(const Lasting& lasting, std::ostream* out) { *out << lasting.job; }

class TorchOutlived : public TorchOddities, public ::testing::WithParamInterface<Lasting> {};

// Waits a minute: far more than the remaining process takes to write its file.
bool is_written_at_last(const TestFolder& folder, const std::string& name) {
  for (int looks = 0; looks < 600; ++looks) {
    if (folder.files() > 0 && folder.read(name) == "done") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

TEST_P(TorchOutlived, LeavesProcessesThatOutliveProgramAlone) {
  const TestFolder temporary, left;
  const Environment folder("TMPDIR", temporary.path("")), file("JOB_FILE", left.path("file"));
  measured(GetParam().job, 2);
  EXPECT_EQ(ended_.exit_code, GetParam().exit_code) << ended_.err;
  EXPECT_THAT(ended_.err, HasSubstr(GetParam().said));
  EXPECT_TRUE(is_written_at_last(left, "file"));
}

INSTANTIATE_TEST_SUITE_P(Jobs, TorchOutlived,
                         ::testing::Values(Lasting{"leaves_a_saver", 0, ""},
                                           Lasting{"daemonises", 1, "start it in the foreground"}),
                         [](const auto& test) { return std::string(test.param.job); });

// A note of the result that has these words; "" without one.
std::string note_with(const json& result, const std::string& words) {
  for (const auto& note : result.at("notes")) {
    if (note.get<std::string>().find(words) != std::string::npos) return note;
  }
  return "";
}

TEST_F(TorchOddities, ReportsWorkerThatCannotJoinAndCountsItsSamples) {
  const json result = measured("cannot_join", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_THAT(note_with(result, "1 worker process"), HasSubstr("Too many open files"));
  EXPECT_EQ(result.at("window").at("samples"), (50 - 5) * 8);
}

TEST_F(TorchOddities, SurvivesProgramThatOverwritesOurMemory) {
  const json result = measured("writes_over_our_page", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(said("batches").value("batches", 0), 50);
  EXPECT_NE(note_with(result, "has written over the memory"), "");
  EXPECT_TRUE(result.at("verdict").at("bound_by").is_null());
}

constexpr const char* kPlainJob = R"(import torch
from torch.utils.data import DataLoader
for _ in DataLoader(list(range(240)), 8, num_workers=2): pass
print("went on")
)";

TEST_F(TorchOddities, MeasuresScriptWithInvalidUtf8InPath) {
  const TestFolder folder;
  const json result = run({}, {torch_python(), folder.write("caf\xe9.py", kPlainJob)});
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("window").at("steps"), 25);
}

// The test is skipped if the kernel allows no mount.
TEST_F(TorchOddities, AvoidsTemporaryFolderWithoutExecution) {
  const TestFolder folder;
  const std::string program = folder.write("program.py", kPlainJob), mount = folder.path("noexec");
  std::filesystem::create_directory(mount);
  const std::string mounting = "mount -t tmpfs -o noexec tmpfs " + mount;
  if (run_program("/usr/bin/unshare", {"-rm", "/bin/sh", "-c", mounting}).exit_code != 0)
    GTEST_SKIP() << "no mount of our own";
  const std::string running = mounting + " && TMPDIR=" + mount + " exec " + binary() + " run -- " +
                              torch_python() + " " + program;
  const Ended ended = run_program("/usr/bin/unshare", {"-rm", "/bin/sh", "-c", running});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("went on"));
}

// These need no torch.

// The library may be of another machine. The program must run without it.
TEST(GuestPackage, RunsProgramWithoutItsLibrary) {
  const TestFolder other;
  const std::string program = other.write("program.py", R"(import os, sys, types
with open(os.environ["LOADERSCOPE_GUEST"] + "/libloaderscope_guest.so", "w") as file: file.write("x")
for name in ("torch", "torch.utils", "torch.utils.data"): sys.modules[name] = types.ModuleType(name)
sys.modules["torch.utils.data"].__path__ = [os.path.dirname(__file__)]
from torch.utils.data import dataloader
print("went on", dataloader.value)
)");
  other.write("dataloader.py", "value = 7\n");
  const Ended ended = run_binary({"run", "--", "python3", program});
  EXPECT_THAT(ended.err, HasSubstr("went on 7"));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("that could be measured: torch.utils.data.dataloader is not"));
}

TEST(GuestFolder, CleansUpOnFullDisk) {
  const TestFolder temporary;
  const Environment folder("TMPDIR", temporary.path(""));
  const Ended ended =
      run_program("/bin/sh", {"-c", "ulimit -f 1; exec " + binary() + " run -- true"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("cannot be written"));
  EXPECT_EQ(temporary.files(), 0);
}

TEST(GuestPackage, RunsSiteCustomizeOfUser) {
  const TestFolder own;
  own.write("sitecustomize.py", "import os\nprint('mine', os.path.dirname(__file__))\n");
  const Environment path("PYTHONPATH", own.path(""));
  const Ended ended = run_binary({"run", "--", "python3", "-c", "pass"});
  EXPECT_THAT(ended.err, HasSubstr("mine " + own.path("").substr(0, own.path("").size() - 1)));
}

// A package by the name of torch that is not what it should be.
TEST(GuestPackage, LeavesUnknownTorchAlone) {
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
