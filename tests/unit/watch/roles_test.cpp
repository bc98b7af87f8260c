// Roles of the processes in a job.
#include "watch/roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loaderscope/errors.h"
#include "unit/watch/pretend_job.h"

namespace loaderscope::watch {
namespace {

using std::string_literals::operator""s;
using test::kTrain;
using test::PretendJob;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr int kBig = 5'000'000;  // no such process here

std::vector<std::string> spelled(const PretendJob& job, int pid) {
  std::vector<std::string> all;
  for (const JobProcess& one : processes_of_job(job.path(), pid, read_processes(job.path())))
    all.push_back(std::to_string(one.pid - kBig) + " " + std::string(name_of(one.role)) + " " +
                  std::to_string(one.rank) + " " + std::to_string(one.number));
  return all;
}

TEST(WatchRoles, FindsRanksAndWorkersOfTorchrun) {
  const PretendJob job;
  job.process(kBig, 1, "torchrun", "python\0torchrun\0"s, {});
  job.process(kBig + 2, kBig, "python", kTrain, {}, 61);
  job.process(kBig + 1, kBig, "python", kTrain, {}, 62);
  job.write("proc/" + std::to_string(kBig + 2) + "/environ", "A=1\0RANK=1\0"s);
  job.write("proc/" + std::to_string(kBig + 1) + "/environ", "RANK=0\0"s);
  job.process(kBig + 3, kBig + 1, "pt_data_worker", kTrain, {}, 71);
  job.process(kBig + 4, kBig + 2, "pt_data_worker", kTrain, {}, 72);
  job.process(kBig + 5, kBig + 2, "pt_data_worker", kTrain, {}, 73);
  job.process(kBig + 9, 1, "python", kTrain, {});
  EXPECT_THAT(spelled(job, kBig), ElementsAre("1 trainer 0 0", "3 worker 0 0", "2 trainer 1 0",
                                              "4 worker 1 0", "5 worker 1 1", "0 other 0 0"));
}

// Older PyTorch gives no names: a worker is forked, spawned, or made by a server.
TEST(WatchRoles, FindsWorkersWithoutNames) {
  const PretendJob forked;
  forked.process(kBig, 1, "python", kTrain, {});
  forked.process(kBig + 1, kBig, "python", kTrain, {});
  forked.process(kBig + 2, kBig, "sh", "sh\0-c\0ls\0"s, {});
  EXPECT_THAT(spelled(forked, kBig), ElementsAre("0 trainer 0 0", "1 worker 0 0", "2 other 0 0"));

  const PretendJob served;
  const std::string server = "python\0-c\0from multiprocessing.forkserver import main\0"s;
  served.process(kBig, 1, "python", kTrain, {});
  served.process(kBig + 1, kBig, "python", server, {});
  served.process(kBig + 2, kBig + 1, "python", server, {});
  served.process(kBig + 3, kBig, "python",
                 "python\0-c\0from multiprocessing.resource_tracker import main\0"s, {});
  EXPECT_THAT(spelled(served, kBig),
              ElementsAre("0 trainer 0 0", "2 worker 0 0", "1 other 0 0", "3 other 0 0"));
}

TEST(WatchRoles, FindsTrainerWithoutWorkersUnderShell) {
  const PretendJob job;
  job.process(kBig, 1, "bash", "bash\0run.sh\0"s, {});
  job.process(kBig + 1, kBig, "python3", "/usr/bin/python3\0train.py\0"s, {});
  EXPECT_THAT(spelled(job, kBig), ElementsAre("1 trainer 0 0", "0 other 0 0"));
}

TEST(WatchRoles, FindsTrainersByTheirWorkers) {
  const PretendJob job;
  job.process(7, 1, "python", kTrain, {});
  job.process(8, 7, "pt_data_worker", kTrain, {});
  job.process(9, 1, "editor", "vi\0"s, {});
  EXPECT_THAT(trainers_here(job.path()), UnorderedElementsAre(7));
}

TEST(WatchRoles, RejectsEndedProcesses) {
  const PretendJob job;
  job.process(8, 7, "python", kTrain, {.state = 'Z'});
  EXPECT_THROW(check_process(job.path(), 7), RunError);
  EXPECT_THROW(check_process(job.path(), 8), RunError);
}

}  // namespace
}  // namespace loaderscope::watch
