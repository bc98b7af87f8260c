// Sums of the readings of a made machine, and the conclusions from them.
#include "watch/job_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "unit/watch/pretend_job.h"
#include "watch/hang_lines.h"

namespace loaderscope::watch {
namespace {

using std::string_literals::operator""s;
using test::Counters;
using test::kTrain;
using test::PretendJob;
using testing::HasSubstr;

constexpr int kTrainer = 5'000'000, kWorker = 5'000'001;

const GpuLoads& no_gpus() {
  static const GpuLoads none("libnowhere.so.1");
  return none;
}

std::optional<double> value_of(const Watch& watch, std::string_view threshold) {
  for (const ThresholdOutcome& outcome : watch.thresholds) {
    if (outcome.name == threshold) return outcome.value_or_reason.value;
  }
  return std::nullopt;
}

// A trainer and a worker, with a sample each second and 20 looks between two samples.
class WatchedJob : public testing::Test {
 protected:
  void set(const Counters& trainer, const Counters& worker) {
    job_.process(kTrainer, 1, "python", kTrain, trainer);
    job_.process(kWorker, kTrainer, "pt_data_worker", kTrain, worker, 60);
    for (const int pid : {kTrainer, kWorker}) {
      job_.open(pid, 5, "pipe:[77]");
      job_.open(pid, 6, "/data/7.jpg");
    }
  }
  // `per_s`: what each uses in a second.
  JobSampler run(int seconds, const Counters& trainer, const Counters& worker,
                 double others_s = 0) {
    set(trainer, worker);
    job_.machine(0);
    JobSampler sampler(job_.path(), kTrainer, 1, no_gpus());
    for (int s = 0; s <= seconds; ++s) {
      set(grown(trainer, s), grown(worker, s));
      job_.machine(s * (trainer.cpu_s + worker.cpu_s + others_s));
      if (others_s > 0) job_.process(900, 1, "cc1plus", "cc1plus\0"s, {.cpu_s = s * others_s});
      sampler.sample((s + 1) * kSecond);
      for (int i = 0; i < 20 && s < seconds; ++i) sampler.look();
    }
    return sampler;
  }
  static Watch judged(const JobSampler& sampler) {
    Watch watch = sampler.report();
    judge(watch);
    return watch;
  }

  PretendJob job_;

 private:
  static Counters grown(Counters per_s, int s) {
    per_s.cpu_s *= s;
    per_s.no_core_s *= s;
    per_s.turns = 1 + s * per_s.turns;
    per_s.rchar *= s;
    per_s.storage *= s;
    return per_s;
  }
};

TEST_F(WatchedJob, NamesCpuAsLimitIfWorkersCompute) {
  const Watch watch =
      judged(run(10, {.cpu_s = 0.1, .turns = 25, .syscall = test::kReadPipe},
                 {.cpu_s = 0.9, .turns = 50, .rchar = 1e6, .storage = 1e4, .state = 'R'}));
  EXPECT_EQ(watch.limit, Limit::cpu) << watch.sentence;
  EXPECT_NEAR(watch.waits.share, 0.9, 0.01);
  EXPECT_NEAR(watch.workers.cpu(), 0.9, 0.01);
  EXPECT_NEAR(watch.workers.activity_share(ThreadActivity::runs), 0.9, 0.01);
  EXPECT_NEAR(value_of(watch, "page-cache-hit").value_or(0), 0.99, 1e-3);
  EXPECT_NEAR(value_of(watch, "worker-cpu").value_or(0), 0.9, 0.01);
  EXPECT_FALSE(value_of(watch, "map-cache-hit"));
  EXPECT_THAT(watch.program + watch.sentence, HasSubstr("never rest"));
}

// A worker that never rests is a reason for another one from 0.3 idle cores on.
TEST_F(WatchedJob, AdvisesOneMoreWorkerOnlyIfCoresAreIdle) {
  Watch watch = judged(run(10, {.cpu_s = 0.1, .turns = 25, .syscall = test::kReadPipe},
                           {.cpu_s = 0.9, .turns = 50, .state = 'R'}));
  const auto advice_with = [&](double busy, double others) {
    watch.machine.cores = 2;
    watch.machine.busy_cores = busy;
    watch.machine.other_cores = others;
    judge(watch);
    EXPECT_EQ(watch.limit, Limit::cpu) << watch.sentence;
    return watch.advice;
  };
  EXPECT_EQ(advice_with(1.2, 0.2), "num_workers=2: 0.8 of 2 cores are idle");
  EXPECT_EQ(advice_with(1.7, 0.7), "num_workers=2: 0.3 of 2 cores are idle");
  EXPECT_EQ(advice_with(1.8, 0.1),
            "less work per sample, or more cores: only 0.2 of 2 cores are idle");
  EXPECT_THAT(advice_with(1.92, 0.6), HasSubstr("only 0.1 of 2 cores are idle"));  // "1.9 busy"
  EXPECT_EQ(advice_with(1.96, 0.1), "less work per sample, or more cores: no core is idle");
  EXPECT_THAT(advice_with(2, 0.8), HasSubstr("(0.8 of 2 cores are theirs): no core is idle"));
  watch.machine.cores = 16;
  watch.machine.busy_cores = 1;
  watch.machine.other_cores = 0;
  watch.waits.share = 0.74;  // four workers make a batch in the time of a step
  judge(watch);
  EXPECT_EQ(watch.advice, "num_workers=4: 15.0 of 16 cores are idle");
}

TEST_F(WatchedJob, NamesFileThatWorkersWaitFor) {
  const Watch watch = judged(run(10, {.cpu_s = 0.1, .turns = 25, .syscall = test::kReadPipe},
                                 {.cpu_s = 0.1,
                                  .turns = 50,
                                  .state = 'D',
                                  .syscall = test::kReadFile,
                                  .wchan = "folio_wait_bit"}));
  EXPECT_EQ(watch.limit, Limit::storage) << watch.sentence;
  EXPECT_NEAR(watch.workers.activity_share(ThreadActivity::storage), 0.9, 0.01);
  EXPECT_EQ(watch.processes.back().where, "read() of /data/7.jpg");
}

// Each epoch starts new ones, and each is gone at the next sample.
TEST_F(WatchedJob, AdvisesPersistenceForShortLivedWorkers) {
  set({.turns = 25, .syscall = test::kReadPipe}, {.cpu_s = 0.5, .state = 'R'});
  job_.end(kWorker);
  JobSampler sampler(job_.path(), kTrainer, 1, no_gpus());
  for (int s = 1; s < 12; ++s) {
    job_.process(kWorker + s, kTrainer, "pt_data_worker", kTrain, {.state = 'R'}, 60 + s);
    job_.end(kWorker + s - 1);
    sampler.sample(s * kSecond);
    for (int i = 0; i < 20; ++i) sampler.look();
  }
  const Watch watch = judged(sampler);
  EXPECT_EQ(watch.limit, Limit::unknown) << watch.sentence;
  EXPECT_THAT(watch.sentence, HasSubstr("the reason is not known: 11 workers came and went"));
  EXPECT_THAT(watch.advice, HasSubstr("persistent_workers=True"));
  EXPECT_FALSE(value_of(watch, "worker-cpu"));
}

// At the last look their trainer has not asked for them yet, or they are about to end. The role of
// processes without names is unknown by then.
TEST_F(WatchedJob, CountsWorkersThatEnd) {
  for (const auto& [name, state] :
       {std::pair("pt_data_worker", 'Z'), std::pair("python", 'Z'), std::pair("python", 'R')}) {
    job_.process(kWorker, kTrainer, name, kTrain, {.state = 'S'}, 60);
    job_.process(kTrainer, 1, "python", kTrain, {.turns = 1, .syscall = test::kReadPipe});
    job_.open(kTrainer, 5, "pipe:[77]");
    JobSampler sampler(job_.path(), kTrainer, 1, no_gpus());
    for (int s = 0; s <= 10; ++s) {
      sampler.sample((s + 1) * kSecond);
      for (int i = 0; i < 20; ++i) sampler.look();
      job_.process(kWorker, kTrainer, name, kTrain,
                   {.cpu_s = s * 0.9, .turns = s * 50, .state = 'R'}, 60);
    }
    job_.process(kWorker, kTrainer, name, "", {.cpu_s = 9, .turns = 500, .state = state}, 60);
    sampler.sample(12 * kSecond);
    const Watch there = judged(sampler);
    EXPECT_EQ(there.limit, Limit::cpu) << there.sentence;
    EXPECT_NEAR(there.workers_watched_s, state == 'Z' ? 10 : 11, 0.01);
    job_.end(kWorker);
    sampler.sample_others(12 * kSecond);
    EXPECT_EQ(sampler.report().workers_watched_s, there.workers_watched_s);
    for (int s = 12; s < 20; ++s) sampler.sample((s + 1) * kSecond);
    EXPECT_EQ(sampler.report().workers_watched_s, there.workers_watched_s);
    EXPECT_EQ(sampler.report().workers_seen, 1);
  }
}

TEST_F(WatchedJob, NamesTrainerThatNeverWaitsAsLimit) {
  const Watch watch = judged(run(10, {.cpu_s = 1, .turns = 25, .state = 'R'},
                                 {.cpu_s = 0.2, .turns = 50, .syscall = test::kReadPipe}));
  EXPECT_EQ(watch.limit, Limit::trainer) << watch.sentence;
  EXPECT_NEAR(watch.workers.activity_share(ThreadActivity::queue), 0.8, 0.01);
  EXPECT_EQ(watch.waits.waits, 0);
}

// Workers would rest if the training were the limit.
TEST_F(WatchedJob, GivesNoVerdictIfTrainersWaitIsUnknown) {
  const std::string waits = std::to_string(SYS_wait4) + " 0xffffffff 0x0 0x0 0x0 0x0 0x0 0x7 0x7";
  const Watch watch = judged(run(10, {.turns = 25, .syscall = waits},
                                 {.cpu_s = 0.5, .no_core_s = 0.45, .turns = 90, .state = 'R'}));
  EXPECT_EQ(watch.limit, Limit::unknown) << watch.sentence;
  EXPECT_THAT(watch.sentence, HasSubstr("and workers never rest"));
}

TEST_F(WatchedJob, NamesProgramsThatTookTheCores) {
  const Watch watch =
      judged(run(12, {.cpu_s = 0.1, .turns = 25, .syscall = test::kReadPipe},
                 {.cpu_s = 0.5, .no_core_s = 0.45, .turns = 90, .state = 'R'}, 1.5));
  EXPECT_EQ(watch.limit, Limit::contention) << watch.sentence;
  EXPECT_THAT(watch.sentence, HasSubstr("cc1plus 1.5"));
  EXPECT_NEAR(watch.machine.other_cores, 1.5, 0.1);
}

TEST_F(WatchedJob, NamesContentionIfTrainerHasNoCore) {
  const Watch watch = judged(run(12, {.cpu_s = 0.5, .no_core_s = 0.45, .turns = 90, .state = 'R'},
                                 {.cpu_s = 0.1, .turns = 50, .syscall = test::kReadPipe}, 1.5));
  EXPECT_EQ(watch.limit, Limit::contention) << watch.sentence;
  EXPECT_THAT(watch.sentence, HasSubstr("and for a core 45.0 %: other programs took"));
}

// The job may be put on CPUs 0 to 3; what runs on the fifth is nothing to it.
TEST_F(WatchedJob, CountsOnlyCpusOfJob) {
  const auto stat = [&](int busy) {
    std::string text = "cpu  " + std::to_string(4 * 10 + busy) + " 0 0 9 0 0 0 0 0 0\n";
    for (int cpu = 0; cpu < 5; ++cpu)
      text += "cpu" + std::to_string(cpu) + " " + std::to_string(cpu < 4 ? 10 : busy) +
              " 0 0 9 0 0 0 0 0 0\n";
    job_.write("proc/stat", text);
  };
  set({}, {});
  stat(0);
  JobSampler sampler(job_.path(), kTrainer, 1, no_gpus());
  sampler.sample(kSecond);
  stat(1000);
  sampler.sample(11 * kSecond);
  const Watch watch = sampler.report();
  EXPECT_DOUBLE_EQ(watch.machine.cores, 4);
  EXPECT_DOUBLE_EQ(watch.machine.busy_cores, 0);
}

TEST_F(WatchedJob, NamesQuotaThatThrottles) {
  job_.write("proc/" + std::to_string(kTrainer) + "/cgroup", "0::/job\n");
  job_.write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  job_.write("sys/fs/cgroup/job/cpu.stat", "throttled_usec 0\n");
  const Counters trainer = {.cpu_s = 0.1, .turns = 25, .syscall = test::kReadPipe};
  JobSampler sampler =
      run(10, trainer, {.cpu_s = 0.5, .no_core_s = 0.45, .turns = 90, .state = 'R'});
  job_.write("sys/fs/cgroup/job/cpu.stat", "throttled_usec 4000000\n");
  sampler.sample(12 * kSecond);
  const Watch watch = judged(sampler);
  EXPECT_EQ(watch.limit, Limit::quota) << watch.sentence;
  EXPECT_DOUBLE_EQ(watch.machine.quota.value_or(0), 1.5);
}

TEST_F(WatchedJob, NamesProcessThatHangsJob) {
  const JobSampler sampler =
      run(12, {.turns = 0, .syscall = test::kReadPipe}, {.turns = 0, .syscall = test::kReadFile});
  EXPECT_GE(sampler.hung_for(), 10 * kSecond);
  const std::vector<std::string> lines = hang_lines(job_.path(), sampler, {});
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.front(), HasSubstr("waits for worker 0 (process 5000001), which waits in "
                                       "read() of /data/7.jpg"));
  EXPECT_THAT(testing::PrintToString(lines), HasSubstr("no-answer"));
}

TEST_F(WatchedJob, ReportsNoHangIfJobMoves) {
  EXPECT_EQ(run(12, {.turns = 0, .syscall = test::kReadPipe},
                {.cpu_s = 0.5, .turns = 0, .syscall = test::kReadFile})
                .hung_for(),
            0);
  EXPECT_EQ(run(12, {.turns = 0, .syscall = test::kSleep}, {.turns = 0}).hung_for(), 0);
}

// Another process has the number of the worker, and then of the job.
TEST_F(WatchedJob, SeparatesProcessesWithSameNumber) {
  JobSampler sampler = run(3, {.cpu_s = 0.1, .syscall = test::kReadPipe}, {.cpu_s = 0.5});
  job_.process(kWorker, 1, "editor", "vi\0"s, {.cpu_s = 99}, 700);
  sampler.sample(20 * kSecond);
  EXPECT_NEAR(sampler.report().workers.cpu(), 0.5, 0.01);
  EXPECT_EQ(sampler.report().count(Role::worker), 0);
  job_.process(kTrainer, 1, "editor", "vi\0"s, {}, 700);
  sampler.sample(40 * kSecond);
  EXPECT_TRUE(sampler.has_ended());
}

TEST_F(WatchedJob, ReportsUnreadableFiles) {
  set({.syscall = ""}, {.syscall = ""});
  job_.write("proc/" + std::to_string(kWorker) + "/io", "");
  JobSampler sampler(job_.path(), kTrainer, 1, no_gpus());
  for (int s = 1; s < 5; ++s) {
    sampler.sample(s * kSecond);
    for (int i = 0; i < 20; ++i) sampler.look();
  }
  const std::string unseen = testing::PrintToString(judged(sampler).unseen);
  EXPECT_THAT(unseen, HasSubstr("/proc/PID/syscall may not be read"));
  EXPECT_THAT(unseen, HasSubstr("/proc/PID/io may not be read"));
  EXPECT_THAT(unseen, HasSubstr("/proc/stat may not be read"));
}

TEST(PythonLook, ParsesOutputOfPySpy) {
  const PythonLook look = parse_python_look(
      "Warning: x\n[{\"os_thread_id\": 8, \"frames\": []}, {\"os_thread_id\": 7, \"frames\": "
      "[{\"filename\": \"/a/train.py\", \"name\": \"step\", \"line\": 12}]}]",
      7);
  ASSERT_EQ(look.threads.size(), 2U);
  EXPECT_EQ(look.threads[0].frames.at(0).line, 12);
  for (const char* damaged : {"", "[", "{}", "[{}]", "[{\"frames\": [{\"line\": 1}]}]", "[]"})
    EXPECT_NE(parse_python_look(damaged, 7).why_not, "") << damaged;
  EXPECT_NE(parse_python_look(std::string(400'000, '['), 7).why_not, "");
}

}  // namespace
}  // namespace loaderscope::watch
