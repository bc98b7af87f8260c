// All jobs of a pretended machine, and their values for monitors.
#include "watch/node_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "monitor/metrics_text.h"
#include "unit/watch/pretend_job.h"
#include "watch/job_board.h"
#include "watch/job_sampler.h"
#include "watch/watch_metrics.h"

namespace loaderscope::watch {
namespace {

using std::string_literals::operator""s;
using test::kTrain;
using test::PretendJob;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int kFirst = 5'100'000;  // no such process here
const std::string kUid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
const std::string kId(64, 'c');

void add_trainer(const PretendJob& job, int pid, int parent, int workers) {
  job.process(pid, parent, "python", kTrain, {});
  for (int i = 1; i <= workers; ++i)
    job.process(pid + i, pid, "pt_data_worker", kTrain, {.cpu_s = 2, .rchar = 100, .storage = 50},
                60 + i);
}

std::string spell(const monitor::LiveBoard& board) {
  return monitor::metrics_text(board.samples(), monitor::TextFormat::prometheus);
}

TEST(NodeWatch, FindsEachTrainerWithWorkers) {
  const PretendJob job;
  add_trainer(job, kFirst, 1, 2);
  add_trainer(job, kFirst + 10, 1, 1);
  job.process(kFirst + 20, 1, "python", kTrain, {});
  EXPECT_THAT(find_jobs(job.path()), ElementsAre(kFirst, kFirst + 10));
}

TEST(NodeWatch, JoinsRanksOfOneLauncher) {
  const PretendJob job;
  job.process(kFirst, 1, "torchrun", "python\0torchrun\0"s, {});
  add_trainer(job, kFirst + 10, kFirst, 1);
  EXPECT_THAT(find_jobs(job.path()), ElementsAre(kFirst + 10));
  add_trainer(job, kFirst + 20, kFirst, 1);
  EXPECT_THAT(find_jobs(job.path()), ElementsAre(kFirst));
}

TEST(NodeWatch, SeparatesJobsOfOneShell) {
  const PretendJob job;
  job.process(kFirst, 1, "bash", "bash\0run.sh\0"s, {});
  add_trainer(job, kFirst + 10, kFirst, 1);
  add_trainer(job, kFirst + 20, kFirst, 1);
  EXPECT_THAT(find_jobs(job.path()), ElementsAre(kFirst + 10, kFirst + 20));
}

// Waits until a number of jobs were shown or ended.
class Counted {
 public:
  void add(pid_t pid) {
    const std::lock_guard lock(mutex_);
    pids_.insert(pid);
    changed_.notify_all();
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(60), [&] { return pids_.size() >= count; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<pid_t> pids_;
};

TEST(NodeWatch, ShowsJobsUntilTheyEnd) {
  const PretendJob job;
  job.machine(0);
  add_trainer(job, kFirst, 1, 2);
  add_trainer(job, kFirst + 10, 1, 1);
  job.write("proc/" + std::to_string(kFirst) + "/cgroup",
            "0::/kubepods/burstable/pod" + kUid + "/" + kId + "\n");
  job.write("proc/" + std::to_string(kFirst) + "/environ",
            "POD_NAME=train-0\0POD_NAMESPACE=vision\0JOB_NAME=resnet\0"s);
  monitor::LiveBoard board;
  JobBoard jobs(board, "node-1", job.path());
  Counted shown, ended;
  std::atomic<int> stop{0};
  NodeOptions options;
  options.root = job.path();
  options.interval = options.search_interval = kSecond / 50;
  std::size_t left_out = 0;
  const NodeEvents events{[&](const Watch& now) {
                            jobs.show(now);
                            shown.add(now.pid);
                          },
                          [&](pid_t pid) {
                            jobs.remove(pid);
                            ended.add(pid);
                          },
                          [&](std::size_t count) { left_out = count; }};
  std::thread watching([&] { watch_node(options, stop, events); });
  shown.wait_for(2);
  const std::string text = spell(board);
  job.end(kFirst + 10);
  ended.wait_for(1);
  const std::string after = spell(board);
  stop = 1;
  watching.join();
  EXPECT_THAT(text, HasSubstr("loaderscope_job_info{pid=\"5100000\",host=\"node-1\","
                              "program=\"train.py\",framework=\"pytorch\",namespace=\"vision\","
                              "pod=\"train-0\",pod_uid=\"" +
                              kUid + "\",container_id=\"" + kId + "\",job_name=\"resnet\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("loaderscope_workers{pid=\"5100000\",rank=\"0\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("loaderscope_workers{pid=\"5100010\",rank=\"0\"} 1\n"));
  EXPECT_THAT(after, HasSubstr("loaderscope_workers{pid=\"5100000\""));
  EXPECT_THAT(after, Not(HasSubstr("pid=\"5100010\"")));
  EXPECT_EQ(left_out, 0U);
}

TEST(NodeWatch, ReportsJobsBeyondMaximum) {
  const PretendJob job;
  job.machine(0);
  for (int i = 0; i < 3; ++i) add_trainer(job, kFirst + 10 * i, 1, 1);
  std::atomic<int> stop{0};
  NodeOptions options;
  options.root = job.path();
  options.interval = options.search_interval = kSecond / 50;
  options.max_jobs = 1;
  std::size_t left_out = 0, calls = 0;
  Counted shown;
  const NodeEvents events{[&](const Watch& now) { shown.add(now.pid); }, [](pid_t) {},
                          [&](std::size_t count) {
                            left_out = count;
                            ++calls;
                          }};
  std::thread watching([&] { watch_node(options, stop, events); });
  shown.wait_for(1);
  stop = 1;
  watching.join();
  EXPECT_EQ(left_out, 2U);
  EXPECT_EQ(calls, 1U);
}

TEST(WatchMetrics, CountsWorkersThatHaveEnded) {
  const PretendJob job;
  job.machine(0);
  const GpuLoads none("libnowhere.so.1");
  const auto set_worker = [&](int pid, double cpu_s) {
    job.process(pid, kFirst, "pt_data_worker", kTrain, {.cpu_s = cpu_s, .rchar = 1000 * cpu_s},
                pid);
  };
  job.process(kFirst, 1, "python", kTrain, {});
  JobSampler sampler(job.path(), kFirst, 1, none);
  sampler.sample(kSecond);
  set_worker(kFirst + 1, 0);
  sampler.sample(3 * kSecond);
  set_worker(kFirst + 1, 2);
  sampler.sample(4 * kSecond);
  EXPECT_DOUBLE_EQ(sampler.report().counters.at(0).worker_cpu_s, 2);
  job.end(kFirst + 1);
  set_worker(kFirst + 2, 0);
  sampler.sample(5 * kSecond);
  set_worker(kFirst + 2, 3);
  sampler.sample(6 * kSecond);
  const RankCounters counters = sampler.report().counters.at(0);
  EXPECT_DOUBLE_EQ(counters.worker_cpu_s, 5);
  EXPECT_DOUBLE_EQ(counters.worker_read.value(), 5000);
}

TEST(WatchMetrics, LeavesOutWhatIsUnknown) {
  Watch watch;
  watch.pid = 7;
  monitor::LiveBoard board;
  board.set(7, live_samples(watch, {}, ""));
  const std::string text = spell(board);
  EXPECT_THAT(text, HasSubstr("loaderscope_job_info{pid=\"7\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("{pid=\"7\",loaderscope_limit=\"unknown\"} 1\n"));
  for (const char* unknown : {"trainer_waiting", "worker_activity", "worker_cpu", "gpu_", "busy",
                              "shared_memory", "throttled"})
    EXPECT_THAT(text, Not(HasSubstr(unknown)));
}

TEST(WatchMetrics, ShowsGpusOfJob) {
  Watch watch;
  watch.gpus = {{"A", 0.5, 1, 8, false, 0.75, 2}, {"B", 0.5, 1, 8, true, 0.25, 3}};
  monitor::LiveSamples samples(monitor::LiveLabels{});
  add_process_metrics(watch, samples);
  std::vector<std::string> shown;
  for (const monitor::LiveSample& one : samples.all())
    if (one.metric == monitor::LiveMetric::gpu_busy)
      shown.push_back(one.labels[0].second + " " + one.labels[1].second + " " +
                      std::to_string(one.value));
  EXPECT_THAT(shown, ElementsAre("1 B 0.250000"));
}

TEST(WatchMetrics, NamesScriptWithoutArguments) {
  const auto program = [](const std::string& command) {
    Watch watch;
    watch.program = command;
    for (const auto& [name, value] : job_labels(watch, {}, ""))
      if (name == "program") return value;
    return std::string();
  };
  EXPECT_EQ(program("/usr/bin/python3 -u /home/me/train.py --token secret"), "train.py");
  EXPECT_EQ(program("/opt/bin/torchrun --nproc-per-node 8 a/train.py x.py"), "train.py");
  EXPECT_EQ(program("/opt/bin/trainer --token secret"), "trainer");
  EXPECT_EQ(program(""), "");
}

}  // namespace
}  // namespace loaderscope::watch
