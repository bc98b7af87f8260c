// Workers that are processes: what is theirs alone. What they share with threads is tested with
// both, in pipeline_test.cpp and real_data_test.cpp.
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include "base/sleep.h"
#include "engine/native/job_runner.h"
#include "loaderscope/engine.h"
#include "unit/native/native_run.h"
#include "unit/native/processes.h"

namespace loaderscope::native {
namespace {

constexpr const char* kEndless =
    "executor=processes batch=2 warmup=1 steps=1000000 cost=decode=2ms:sleep compute=1ms ";

void expect_no_children() {
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// Sends `signal` to the last worker as soon as there are steps, and returns what the run says.
std::string failure_after(int signal, const std::string& settings) {
  RunContext context;
  bool sent = false;
  context.on_progress = [&](const Progress& progress) {
    const std::vector<pid_t> workers = worker_pids(::getpid());
    if (progress.steps == 0 || sent || workers.size() < 3) return;
    ::kill(workers.back(), signal);
    sent = true;
  };
  try {
    run(settings, context);
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

TEST(ProcessWorkers, NamesKilledWorker) {
  for (const std::string more :
       {"workers=3", "workers=3 task=sample", "workers=3 memory=pin-thread"}) {
    SCOPED_TRACE(more);
    const std::string text = failure_after(SIGKILL, kEndless + more);
    EXPECT_THAT(text, testing::MatchesRegex(
                          "worker [0-2] of rank 0 \\(pid [0-9]+\\) was killed by signal 9 "
                          "\\(SIGKILL\\) (while making batch [0-9]+(, sample [0-9]+)?|between two "
                          "batches); .*--num-workers.*"));
    expect_no_children();
  }
}

TEST(ProcessWorkers, NamesSignalOfCrash) {
  const std::string text = failure_after(SIGABRT, std::string(kEndless) + "workers=3");
  EXPECT_THAT(text, testing::HasSubstr("SIGABRT"));
  EXPECT_THAT(text, testing::HasSubstr("--executor threads"));
}

TEST(ProcessWorkers, FailsWhenForkingProcessDies) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);  // another test of this process may have adopted orphans
  RunContext context;
  context.on_progress = [&](const Progress& progress) {
    if (progress.steps > 0) ::kill(child_pids(::getpid()).front(), SIGKILL);
  };
  try {
    run(std::string(kEndless) + "workers=2", context);
    ADD_FAILURE();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("the process that forks the workers (pid "));
  }
  expect_no_children();
}

// A terminal sends its signals to every process of the group.
TEST(ProcessWorkers, IgnoresTerminalSignalsInWorkers) {
  RunContext context;
  std::atomic<int> stop{0};
  context.stop_signal = &stop;
  int rounds = 0;
  context.on_progress = [&](const Progress& progress) {
    if (progress.steps == 0) return;
    for (const pid_t pid : descendant_pids(::getpid())) {
      ::kill(pid, SIGINT);
      ::kill(pid, SIGTERM);
    }
    if (++rounds == 2) stop = SIGINT;
  };
  const RunRecord record = run(std::string(kEndless) + "workers=2", context);
  EXPECT_TRUE(record.interrupted);
  EXPECT_GT(record.ranks[0].steps(), 0);
  expect_no_children();
}

TEST(ProcessWorkers, LeavesNoFilesOrProcesses) {
  const auto shared_names = [] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      names.insert(entry.path());
    return names;
  };
  const std::vector<std::string> files = open_files();
  const std::set<std::string> names = shared_names();
  run("executor=processes workers=2 ranks=2 batch=1 warmup=0 steps=4 cost=decode=1ms:sleep "
      "compute=1ms");
  EXPECT_EQ(open_files(), files);
  const auto left = [&]() -> std::string {
    for (const std::string& name : shared_names()) {
      if (!names.contains(name)) return name;
    }
    return "";
  };
  for (int wait = 0; wait < 50 && !left().empty(); ++wait)  // others have names there for a while
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(left(), "");
  expect_no_children();
}

struct Started : EventObserver {
  std::int64_t startups = 0, parent_startups = 0;
  Nanos asked = 0, dispatched = 0;
  void first_ask(std::int32_t, Nanos at) override { asked = at; }
  void span(std::int32_t, std::int32_t, const Span& span) override {
    startups += span.stage == Stage::startup;
    parent_startups += span.stage == Stage::startup_parent;
  }
  void deliverable(std::int32_t, std::int64_t, Nanos) override {}
  void step(std::int32_t, const StepEvents& events) override {
    if (events.step == 0) dispatched = events.epoch_dispatch;
  }
};

Started start(const std::string& more) {
  Started started;
  RunContext context;
  context.observer = &started;
  expect_closes(
      run("executor=processes workers=3 batch=1 samples=6 warmup=0 "
          "cost=decode=100us:sleep compute=100us " +
              more,
          context));
  return started;
}

TEST(ProcessWorkers, RestartsEachEpochUnlessPersistent) {
  EXPECT_EQ(start("epochs=4").startups, 12);
  EXPECT_EQ(start("epochs=4").parent_startups, 12);
  EXPECT_EQ(start("epochs=4 persistent-workers=true").startups, 3);
}

// 3 x 30 ms: a fork server takes that upon itself.
TEST(ProcessWorkers, BlocksTrainerDuringStartWithoutForkServer) {
  constexpr const char* kSlowStart = "epochs=1 cost=startup.parent=30ms:sleep mp-context=";
  for (const std::string context : {"fork", "spawn"}) {
    const Started started = start(kSlowStart + context);
    EXPECT_GE(started.dispatched - started.asked, 90 * kMillisecond) << context;
  }
  expect_in_a_quiet_moment([]() -> std::string {
    const Started started = start(std::string(kSlowStart) + "forkserver");
    EXPECT_EQ(started.parent_startups, 3);
    const Nanos took = started.dispatched - started.asked;
    return took < 90 * kMillisecond ? "" : std::to_string(took) + " ns";
  });
}

double transport_share(const RunRecord& record) {
  const Account account = analyse(record).account;
  return static_cast<double>(account.stall[Cause::transport]) / static_cast<double>(account.window);
}

TEST(ProcessWorkers, AgreesWithTheModelOnTransport) {
  for (const std::string more :
       {"cost=transport=30ms:sleep", "in-flight=1 cost=transport.recv=30ms:sleep",
        "memory=pin-thread cost=transport=10ms:sleep cost=transport.recv=30ms:sleep"}) {
    SCOPED_TRACE(more);
    const RunConfig config = parse_config(
        "executor=processes workers=1 batch=1 cost=decode=1ms:sleep compute=2ms warmup=4 "
        "steps=40 " +
        more);
    const double expected = transport_share(run_engine(config, {}));
    expect_in_a_quiet_moment([&]() -> std::string {
      const double share = transport_share(run_native(config, {}));
      if (std::abs(share - expected) <= 0.1) return "";
      return std::to_string(share) + ", not " + std::to_string(expected);
    });
  }
}

TEST(ProcessWorkers, MeasuresMessagesBetweenProcesses) {
  for (const std::string more : {"", "memory=pin-thread"}) {
    const RunRecord record =
        run("executor=processes workers=2 batch=1 warmup=0 steps=20 cost=decode=2ms:sleep "
            "compute=1ms " +
            more);
    EXPECT_EQ(record.ranks[0].stages[Stage::transport].count, 20);
    EXPECT_EQ(record.ranks[0].stages[Stage::transport_recv].count, 20);
    EXPECT_GT(record.ranks[0].stages[Stage::transport_recv].wall, 0);
  }
}

double value_of_metric(const RunRecord& record, const std::string& name) {
  for (const Metric& metric : record.metrics) {
    if (metric.name == name) return metric.value;
  }
  return -1;
}

// Six epochs of 30 batches of 1 ms, whether the workers that burnt it live or not.
TEST(ProcessWorkers, CountsCpuTimeOfWorkers) {
  for (const std::string more : {"", "persistent-workers=true"}) {
    const RunRecord record =
        run("executor=processes workers=2 batch=1 samples=30 epochs=6 warmup=0 "
            "cost=decode=1ms:cpu compute=100us " +
            more);
    EXPECT_GT(value_of_metric(record, "process.cpu_s"), 0.09) << more;
  }
}

TEST(ProcessWorkers, RejectsMemoryThatOnlyDriverAllocates) {
  EXPECT_THROW(run("executor=processes workers=1 memory=write-combined cost=decode=1ms:sleep "
                   "compute=1ms steps=3"),
               UsageError);
}

// A process that computes, and whose parent has ended.
pid_t orphan_at_work(const char* name) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t parent = ::fork();
  if (parent == 0) {
    const pid_t orphan = ::fork();
    if (orphan == 0) {
      ::prctl(PR_SET_NAME, name);
      ::alarm(60);
      for (std::atomic<int> turns{0};; turns.fetch_add(1)) {
      }
    }
    const bool is_sent = ::write(ends[1], &orphan, sizeof orphan) == sizeof orphan;
    ::_exit(is_sent ? 0 : 1);
  }
  pid_t orphan = -1;
  if (::read(ends[0], &orphan, sizeof orphan) != sizeof orphan) orphan = -1;
  ::close(ends[0]);
  ::close(ends[1]);
  ::waitpid(parent, nullptr, 0);
  return orphan;
}

TEST(ProcessWindow, OmitsWorkerWhoseParentWasKilled) {
  constexpr const char* kName = "orphaned-worker";
  const pid_t orphan = orphan_at_work(kName);
  ASSERT_GT(orphan, 0);
  ProcessWindow window([&] { return OtherProcesses{{orphan}, {}}; });
  window.run_begins();
  const std::string folder = "/proc/" + std::to_string(orphan);
  const double before = read_process_stat(folder)->own.cpu_s();
  while (read_process_stat(folder)->own.cpu_s() < before + 0.3) ::usleep(10'000);
  window.ends(1);
  ::kill(orphan, SIGKILL);
  for (const Detail& detail : window.other_programs()) EXPECT_NE(detail.text, kName);
}

}  // namespace
}  // namespace loaderscope::native
