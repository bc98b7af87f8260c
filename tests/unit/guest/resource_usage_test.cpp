// Resource usage of the processes of a job, also of processes that end before the next sample.
#include "guest/host/resource_usage.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "unit/machine/no_stop.h"

namespace loaderscope::guest {
namespace {

using test::kNoStop;

// A job of one process that waits for run_to_its_end(), then uses CPU time and ends.
class BusyJob {
 public:
  explicit BusyJob(Nanos cpu) {
    EXPECT_EQ(::pipe(start_), 0);
    pid_ = ::fork();
    if (pid_ != 0) return;
    char go = 0;
    static_cast<void>(!::read(start_[0], &go, 1));
    const pid_t worker = ::fork();
    burn_cpu(cpu / 2, kNoStop);
    if (worker == 0) ::_exit(0);
    ::waitpid(worker, nullptr, 0);
    ::_exit(0);
  }
  ~BusyJob() {
    for (const int end : start_) ::close(end);
  }

  std::vector<JobProcess> processes() const { return {{pid_, false}}; }
  void run_to_its_end() const {
    EXPECT_EQ(::write(start_[1], "x", 1), 1);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  int start_[2] = {-1, -1};
  pid_t pid_ = -1;
};

double cpu_seconds(ResourceUsage& consumption, Nanos window_end) {
  return value_of(consumption.metrics(window_end), "process.cpu_s").value_or(-1);
}

// The second look is not due when the job ends.
TEST(ResourceUsage, CountsWhatEndedBeforeTheNextLook) {
  ResourceUsage consumption;
  const BusyJob job(200 * kMillisecond);
  consumption.window_begins(job.processes());
  consumption.look(job.processes(), {}, false, 0);
  job.run_to_its_end();
  const Nanos window_end = monotonic_now();
  consumption.job_ended();
  const double cpu = cpu_seconds(consumption, window_end);
  EXPECT_GT(cpu, 0.15);
  EXPECT_LT(cpu, 1);
}

double thread_count(const JobProcess& process) {
  const std::filesystem::directory_iterator threads("/proc/" + std::to_string(process.pid) +
                                                    "/task");
  return static_cast<double>(std::distance(begin(threads), end(threads)));
}

// Threads of this program do not count. A sanitizer may start one of its own in each process.
TEST(ResourceUsage, CountsThreads) {
  ResourceUsage consumption;
  const BusyJob job(0);
  const double before = thread_count(job.processes().front());
  consumption.window_begins(job.processes());
  const Nanos window_end = monotonic_now();
  consumption.look(job.processes(), {}, true, window_end);
  const double after = thread_count(job.processes().front());
  job.run_to_its_end();
  const double counted = value_of(consumption.metrics(window_end), "process.threads").value_or(-1);
  EXPECT_GE(counted, before);
  EXPECT_LE(counted, after);
}

TEST(ResourceUsage, EndsWithTheLastStep) {
  ResourceUsage consumption;
  const BusyJob job(200 * kMillisecond);
  consumption.window_begins(job.processes());
  const Nanos window_end = monotonic_now();
  job.run_to_its_end();  // uses CPU time after the last step
  consumption.job_ended();
  EXPECT_LT(cpu_seconds(consumption, window_end), 0.1);
}

TEST(ResourceUsage, ReportsNothingForUnsampledWindow) {
  ResourceUsage consumption;
  EXPECT_TRUE(consumption.metrics(monotonic_now()).empty());
  const BusyJob job(0);
  const Nanos before = monotonic_now();
  consumption.window_begins(job.processes());
  job.run_to_its_end();
  consumption.job_ended();
  EXPECT_TRUE(consumption.metrics(before).empty());
}

}  // namespace
}  // namespace loaderscope::guest
