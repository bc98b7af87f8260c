// The job's own thread receives the reports of trainers in an order that it can use.
#include "engine/native/rank_share.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "base/thread_meter.h"
#include "engine/native/worker.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "unit/native/native_run.h"

namespace loaderscope::native {
namespace {

struct Order : EventObserver {
  std::set<std::int32_t> asked;
  std::int64_t steps = 0, too_early = 0;

  void first_ask(std::int32_t rank, Nanos) override { asked.insert(rank); }
  void span(std::int32_t, std::int32_t, const Span&) override {}
  void deliverable(std::int32_t, std::int64_t, Nanos) override {}
  void step(std::int32_t rank, const StepEvents&) override {
    ++steps;
    too_early += asked.contains(rank) ? 0 : 1;
  }
};

// Trainers begin one after the other while the first ones have steps already.
TEST(NativeJob, FoldsStepsOnlyAfterFirstAsk) {
  Order order;
  RunContext context;
  context.observer = &order;
  // Longer steps than the folding of them: nothing is lost on few cores either.
  const RunRecord record =
      run("workers=0 ranks=200 batch=1 warmup=0 steps=2 compute=20ms", context);
  expect_closes(record);
  EXPECT_EQ(order.asked.size(), 200U);
  EXPECT_GE(order.steps, 400);
  EXPECT_EQ(order.too_early, 0);
}

// However the trainers and the thread that takes come to run.
TEST(NativeJob, ReportsFirstAskNoLaterThanSteps) {
  const LoaderPlan plan(parse_config("steps=1 compute=1us"));
  std::atomic<int> stop{0};
  Job job(plan, nullptr, {}, false, {}, stop);
  constexpr std::int32_t kRanks = 2000;
  std::thread trainers([&] {
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      job.put_first_ask(rank, 1);
      job.put_step(rank, {});
    }
  });
  Order order;
  while (order.steps < kRanks) {
    const Job::Reports& reports = job.take_reports();
    for (const auto& [rank, at] : reports.first_asks) order.first_ask(rank, at);
    for (const auto& [rank, events] : reports.steps) order.step(rank, events);
  }
  trainers.join();
  EXPECT_EQ(order.too_early, 0);
}

// A child process has no descriptor left.
TEST(RunQueue, ReportsMissingDescriptorsOfThread) {
  if (!RunQueueMeter().known()) GTEST_SKIP() << "no schedstat";
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none = {0, 0};
    ::setrlimit(RLIMIT_NOFILE, &none);
    const RunQueueMeter meter;
    std::string message;
    try {
      demand_run_queue(meter);
    } catch (const RunError& error) {
      message = error.what();
    }
    const bool is_reported = message.starts_with("a thread: Too many open files for /proc") &&
                             message.find("ulimit -n") != std::string::npos;
    ::_exit(is_reported ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace loaderscope::native
