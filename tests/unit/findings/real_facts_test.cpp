// Findings on facts that the native engine and the kernel make, not a test. Rows are asked one by
// one: whether a short run on a busy machine gets a verdict is not the question.
#include <gtest/gtest.h>
#include <sched.h>

#include <functional>
#include <thread>

#include "analysis/findings/finding_input.h"
#include "base/cpu_set.h"
#include "dataset/make.h"
#include "machine/cgroup.h"
#include "machine/machine.h"
#include "unit/dataset/contents.h"
#include "unit/machine/pretend_root.h"
#include "unit/native/native_run.h"
#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

bool fires(std::string_view id, const RunRecord& record) {
  const Analysis analysis = analyse(record);
  return find_row(id, finding_table()).look(FindingInput(record, analysis)).has_value();
}

double read_metric(const RunRecord& record, std::string_view name) {
  const Analysis analysis = analyse(record);
  return FindingInput(record, analysis).metric(name);
}

constexpr const char* kShort = "batch=2 steps=10 warmup=1 workers=1 compute=1ms cost=decode=2ms";

// With all its threads on one CPU, which they inherit.
void on_one_cpu(const std::function<void()>& run) {
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(allowed_cpus().front()), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    run();
  }).join();
}

// The trainer, which launches and receives, and the feeders share one CPU with four workers that
// always work.
TEST(RealFacts, RecordsRunQueueDelayOfEveryThread) {
  RunRecord record;
  on_one_cpu([&] {
    record = native::run(
        "workers=4 batch=2 steps=24 warmup=1 compute=1ms cost=decode=2ms cost=launch=2ms:cpu "
        "cost=transport=2ms:cpu cost=transport.recv=2ms:cpu");
  });
  if (!record.contention_known) GTEST_SKIP() << "no run-queue delay in /proc/self/schedstat";
  for (Stage stage : {Stage::launch, Stage::transport, Stage::transport_recv}) {
    const StageStats& stats = record.ranks[0].stages[stage];
    EXPECT_EQ(stats.count, 24) << name_of(stage);
    EXPECT_GT(stats.queued, 0) << name_of(stage);
    EXPECT_LE(stats.cpu + stats.queued, stats.wall) << name_of(stage);
  }
}

TEST(RealFacts, CountsCoresByAffinity) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "the machine has one CPU";
  RunRecord record;
  MachineFacts machine;
  on_one_cpu([&] {
    machine = read_machine();
    record = native::run("workers=4 batch=2 steps=16 warmup=1 compute=1ms cost=decode=3ms");
  });
  record.machine = machine;
  record.config.declared.cores.value = machine.cores;
  EXPECT_LE(machine.cores, 1);
  if (!record.contention_known) GTEST_SKIP() << "no run-queue delay in /proc/self/schedstat";
  EXPECT_TRUE(fires("cpu-quota", record));
  record.config.declared.cores.value = static_cast<double>(machine.logical_cpus);
  EXPECT_FALSE(fires("cpu-quota", record));
}

TEST(RealFacts, DetectsColdData) {
  const source::TempFolder folder;
  dataset::MakeOptions options;
  options.path = folder / "photos";
  options.count = 24;
  options.size = {40, 30, 0};
  options.threads = 1;
  dataset::make_dataset(options, {});
  const std::string settings =
      "batch=2 steps=8 warmup=1 workers=1 compute=1ms size=16 inject=read=+5ms data=" +
      options.path;
  RunRecord cold = native::run(settings + " cache=cold");
  if (read_metric(cold, "cache.resident_bytes") > read_metric(cold, "cache.checked_bytes") / 2)
    GTEST_SKIP() << "the file system keeps its pages";
  EXPECT_TRUE(fires("cold-cache", cold));
  cold.config.data.access.set(FileAccess::direct);
  EXPECT_FALSE(fires("cold-cache", cold));  // a warm one would not be looked at
  EXPECT_FALSE(fires("cold-cache", native::run(settings + " cache=warm")));
}

TEST(RealFacts, DetectsMemoryLimitOfGroup) {
  const test::PretendRoot root;
  RunRecord record = native::run(kShort);
  const double resident = read_metric(record, "memory.resident_bytes");
  ASSERT_GT(resident, 0);
  const auto limited_to = [&](double bytes) {
    root.write("proc/self/cgroup", "0::/job\n");
    root.write("sys/fs/cgroup/job/memory.max",
               std::to_string(static_cast<std::int64_t>(bytes)) + "\n");
    record.machine.memory_bytes = cgroup_memory(root.path()).value_or(0);
  };
  limited_to(1.05 * resident);
  EXPECT_TRUE(fires("memory-limit-near", record));
  limited_to(2 * resident);
  EXPECT_FALSE(fires("memory-limit-near", record));
}

TEST(RealFacts, CountsThreadsAndOtherPrograms) {
  const RunRecord record = native::run(kShort);
  EXPECT_GE(read_metric(record, "process.loader_threads"), 3);  // this one, a trainer, a worker
  EXPECT_GE(read_metric(record, "process.threads"), 1);
  EXPECT_FALSE(fires("nested-thread-pools", record));
  const bool counted =
      std::any_of(record.metrics.begin(), record.metrics.end(),
                  [](const Metric& m) { return m.name == "host.other_cpu_s" && m.value >= 0; });
  EXPECT_TRUE(counted);
}

}  // namespace
}  // namespace loaderscope
