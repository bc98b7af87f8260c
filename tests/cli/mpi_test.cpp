// Processes of a real mpirun, Open MPI's and MPICH's, that make one job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/pipelines_of_jobs.h"
#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Launcher {
  const char* name;
  const char* program;
  Words words;
};

std::ostream& operator<<(std::ostream& out, const Launcher& launcher) {
  return out << launcher.name;
}

class Mpi : public testing::TestWithParam<Launcher> {
 protected:
  void SetUp() override {
    if (::access(GetParam().program, X_OK) != 0)
      GTEST_SKIP() << "no " << GetParam().program << " (scripts/install-deps mpi)";
  }

  std::unique_ptr<RunningBinary> started(int processes, const Words& own) const {
    Words words = GetParam().words;
    words.insert(words.end(), {"-n", std::to_string(processes), binary(), "run"});
    words.insert(words.end(), own.begin(), own.end());
    return std::make_unique<RunningBinary>(words, "", GetParam().program);
  }

  Words pipeline(const std::string& steps) const {
    return job_with_a_slow_rank("decode=2ms:sleep", steps, folder_.path("job.json"));
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
  // Open MPI starts processes as root only with both variables.
  Environment root_{"OMPI_ALLOW_RUN_AS_ROOT", "1"};
  Environment sure_{"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"};
};

TEST_P(Mpi, JoinsProcessesIntoOneJobByDefault) {
  const Ended ended = started(3, pipeline("60"))->wait();
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("3 processes of one launcher make one job (--rendezvous mpi, "));
  EXPECT_THAT(ended.out, AllOf(HasSubstr("3 ranks"), HasSubstr("rank 1 is the straggler")));
  const json result = json::parse(folder_.read("job.json"));
  EXPECT_EQ(result.at("ranks").size(), 3u);
  EXPECT_EQ(result.at("window").at("steps"), 60);
}

TEST_P(Mpi, RunsSeparateJobsWithRendezvousOff) {
  const Words words = {"--rendezvous", "off", "--source",  "synthetic",
                       "--device",     "sim", "--cost",    "decode=2ms:sleep",
                       "--compute",    "4ms", "--workers", "1",
                       "--batch",      "2",   "--steps",   "20"};
  const Ended ended = started(2, words)->wait();
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, Not(HasSubstr("make one job")));
  EXPECT_THAT(ended.out, Not(HasSubstr("2 ranks")));
}

TEST_P(Mpi, LeavesMpiToTheProgramAfterDashes) {
  const Ended own = started(2, {"--rendezvous", "mpi", "--", "true"})->wait();
  EXPECT_NE(own.exit_code, 0);
  EXPECT_THAT(own.err, HasSubstr("--rendezvous mpi: the program may use MPI, which starts only"));
  const Ended nothing_said = started(2, {"--", "true"})->wait();
  EXPECT_THAT(nothing_said.err, Not(HasSubstr("rendezvous")));
}

INSTANTIATE_TEST_SUITE_P(
    Launchers, Mpi,
    testing::Values(Launcher{"OpenMpi", "/usr/bin/mpirun.openmpi", {"--oversubscribe"}},
                    Launcher{"Mpich", "/usr/bin/mpirun.mpich", {}}),
    [](const testing::TestParamInfo<Launcher>& launcher) { return launcher.param.name; });

class MpiLibrary : public testing::Test {
 protected:
  void SetUp() override {
    if (::access("/usr/lib/x86_64-linux-gnu/libmpi.so.40", R_OK) != 0)
      GTEST_SKIP() << "no Open MPI (scripts/install-deps mpi)";
  }

  static void expect_refused_with(const char* message) {
    expect_refused({"run", "--source", "synthetic", "--cost", "decode=1ms", "--rendezvous", "mpi"},
                   {{{}, message, 1}});
  }
};

TEST_F(MpiLibrary, RequiresMpirun) {
  expect_refused_with("--rendezvous mpi: no mpirun has started this process; ");
}

// MPI_Init of one MPI library sees one process if the mpirun of another MPI started it.
TEST_F(MpiLibrary, RejectsLibraryOfAnotherLauncher) {
  const Environment root("OMPI_ALLOW_RUN_AS_ROOT", "1"),
      sure("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  const Environment size("OMPI_COMM_WORLD_SIZE", "2");
  expect_refused_with(
      "--rendezvous mpi: MPI knows one process, and 2 were started (OMPI_COMM_WORLD_SIZE); ");
}

}  // namespace
}  // namespace loaderscope::testing_cli
