// The memory of an advice: what more workers need, and that they fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "analysis/findings/worker_memory.h"
#include "loaderscope/predict.h"
#include "report/answer/answers.h"
#include "unit/findings/users_code.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using testing::HasSubstr;
using testing::Not;

// Replaces what the model measured.
void set_batch_bytes(RunRecord& record, double bytes) {
  std::erase_if(record.metrics, [](const Metric& one) { return one.name == "memory.batch_bytes"; });
  for (RankRecord& rank : record.ranks) rank.delivered_bytes = 0;
  if (bytes > 0) record.metrics.push_back({"memory.batch_bytes", "bytes", "", bytes});
}

// A program whose only worker never rests, on many cores. Its batches take no memory.
RunRecord worker_run(double own, double free) {
  RunRecord record = test::run(
      "batch = 8\nsteps = 160\ncompute = 10ms\ncores = 16\nworkers = 1\ncost = decode=12ms");
  set_batch_bytes(record, 0);
  record.metrics.push_back({"memory.worker_private_bytes", "bytes", "", own});
  record.metrics.push_back({"memory.free_bytes", "bytes", "", free});
  return record;
}

struct Advised {
  explicit Advised(RunRecord run) : record(std::move(run)), analysis(analyse(record)) {
    add_findings(analysis, record);
  }
  const Finding* find(std::string_view id) const {
    const auto& all = analysis.findings;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Finding& f) { return f.id == id; });
    return found == all.end() ? nullptr : &*found;
  }
  std::string answer() const {
    std::string text;
    for (const std::string& line : answer_lines(answer_run(record, analysis))) text += line + "\n";
    return text;
  }

  RunRecord record;
  Analysis analysis;
};

TEST(WorkerMemory, NamesMemoryInAnswer) {
  const Advised advised(worker_run(1e9, 60e9));
  EXPECT_THAT(advised.answer(),
              HasSubstr("\nWhy:   9 workers need about 9 GB, 8 GB more than now (60 GB are free)"))
      << advised.answer();
  const Finding* more = advised.find("too-few-workers");
  ASSERT_NE(more, nullptr);
  ASSERT_TRUE(more->memory);
  EXPECT_TRUE(more->memory->fits());
  EXPECT_FALSE(more->memory->is_limit);
}

TEST(WorkerMemory, LimitsAdvice) {
  const Advised advised(worker_run(1e9, 3.5e9));
  const Finding* more = advised.find("too-few-workers");
  ASSERT_NE(more, nullptr);
  EXPECT_EQ(changes_to_text(more->changes), "num-workers=4");
  EXPECT_TRUE(more->memory && more->memory->is_limit);
  EXPECT_THAT(advised.answer(), HasSubstr("; more do\n       not fit"));
}

TEST(WorkerMemory, ReplacesAdviceIfThereIsNoRoom) {
  const Advised advised(worker_run(1e9, 0.5e9));
  const Finding* more = advised.find("too-few-workers");
  ASSERT_NE(more, nullptr);
  EXPECT_TRUE(more->changes.empty());
  EXPECT_EQ(more->pytorch,
            "less memory per worker: another worker needs 1.00 GB, and 500 MB are free");
}

TEST(WorkerMemory, OmitsLittleMemory) {
  EXPECT_THAT(Advised(worker_run(1e7, 60e9)).answer(), Not(HasSubstr("need about")));
}

WorkerMemory sixteen(double needed, double more, double free) {
  WorkerMemory memory;
  memory.workers = 16;
  memory.needed = needed;
  memory.more = more;
  memory.free = free;
  return memory;
}

TEST(WorkerMemory, PrintsNeededAndFree) {
  EXPECT_EQ(sixteen(14e9, 14e9, 12e9).sentence(),
            "16 workers need about 14.0 GB (12.0 GB are free); they do not fit");
  EXPECT_FALSE(sixteen(14e9, 14e9, 12e9).fits());
  WorkerMemory shared = sixteen(2e9, 1e9, 5e9);
  shared.is_shared = true;
  EXPECT_EQ(shared.sentence(),
            "16 workers need about 2.00 GB of /dev/shm, 1.00 GB more than now (5.00 GB are free)");
  WorkerMemory bound = sixteen(2e9, 2e9, 0);
  bound.is_bound = true;
  EXPECT_EQ(bound.sentence(), "16 workers need at most 2.00 GB");
}

// The settings of a what-if, which may ask for more workers than there is room for.
TEST(WorkerMemory, CoversAnyNumberOfWorkers) {
  RunRecord record = worker_run(1e9, 20e9);
  set_batch_bytes(record, 1e8);
  record.config.loader.prefetch_factor.value = 2;
  const Analysis analysis = analyse(record);
  const FindingInput facts(record, analysis);
  LoaderConfig then = record.config.loader;
  EXPECT_FALSE(memory_of_loader(facts, then));
  then.num_workers.value = 9;
  then.prefetch_factor.value = 4;
  std::optional<WorkerMemory> memory = memory_of_loader(facts, then);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->workers, 9);
  EXPECT_DOUBLE_EQ(memory->needed, 9 * 1.4e9);
  EXPECT_DOUBLE_EQ(memory->more, 9 * 1.4e9 - 1.2e9);
  EXPECT_TRUE(memory->fits());
  then.num_workers.value = 64;
  memory = memory_of_loader(facts, then);
  ASSERT_TRUE(memory);
  EXPECT_FALSE(memory->fits());
  record.metrics.clear();
  for (RankRecord& rank : record.ranks) rank.delivered_bytes = 0;
  EXPECT_FALSE(memory_of_loader(facts, then));
}

// A trainer without workers has 4 GB, of which a forked worker copies what it writes.
TEST(WorkerMemory, GivesBoundBeforeFirstWorker) {
  RunRecord record = test::run(
      "batch = 8\nsteps = 160\ncompute = 10ms\ncores = 4\nworkers = 0\ncost = decode=2ms");
  test::make_users_code(record);
  record.engine = "torch";
  set_batch_bytes(record, 0);
  record.metrics.push_back({"memory.resident_bytes", "bytes", "", 4e9});
  record.metrics.push_back({"memory.free_bytes", "bytes", "", 20e9});
  const Advised advised(std::move(record));
  const Finding* first = advised.find("no-workers");
  ASSERT_NE(first, nullptr);
  ASSERT_TRUE(first->memory);
  EXPECT_TRUE(first->memory->is_bound);
  EXPECT_DOUBLE_EQ(first->memory->more, 4e9 * static_cast<double>(first->memory->workers));
}

// Batches wait in /dev/shm, of which a container has 64 MB.
TEST(WorkerMemory, KeepsToSharedMemory) {
  RunRecord record = worker_run(1e7, 60e9);
  test::make_users_code(record);
  record.engine = "torch";
  record.config.loader.executor.value = Executor::processes;
  record.config.loader.prefetch_factor.value = 2;
  set_batch_bytes(record, 8e6);
  record.metrics.push_back({"memory.shm_limit_bytes", "bytes", "", 64e6});
  record.metrics.push_back({"memory.shm_peak_bytes", "bytes", "", 16e6});
  const Advised advised(std::move(record));
  const Finding* more = advised.find("too-few-workers");
  ASSERT_NE(more, nullptr);
  ASSERT_FALSE(more->changes.empty());
  EXPECT_LE(parse_count(more->changes.front().value), 4) << advised.answer();
  ASSERT_TRUE(more->memory);
  EXPECT_TRUE(more->memory->is_shared);
}

}  // namespace
}  // namespace loaderscope
