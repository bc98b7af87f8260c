// Pipelines of declared sleeps, run for real: what they are bound by follows by hand, with margins
// of two and more. The same rules are proven to the ns in virtual time (tests/unit/known_answer).
#include "loaderscope/engine.h"
#include "unit/native/native_run.h"

#include <algorithm>
#include <span>

namespace loaderscope::native {
namespace {

struct Case {
  const char* name;
  const char* settings;
  const char* bound_by;
};

// The same with worker processes, where there are workers.
struct OnExecutor {
  Case what;
  const char* executor;
};

void PrintTo(const OnExecutor& on, std::ostream* out) {
  *out << on.what.name << " " << on.executor;
}

std::vector<OnExecutor> on_each_executor(std::span<const Case> cases) {
  std::vector<OnExecutor> all;
  for (const Case& one : cases) {
    const bool has_workers = std::string_view(one.settings).find("workers=0") == std::string::npos;
    all.push_back({one, has_workers ? "threads" : "inline"});
    if (has_workers) all.push_back({one, "processes"});
  }
  return all;
}

std::string name_of_case(const testing::TestParamInfo<OnExecutor>& info) {
  return std::string(info.param.what.name) + "_" + info.param.executor;
}

class Pipeline : public testing::TestWithParam<OnExecutor> {};

TEST_P(Pipeline, NamesLimitingCause) {
  expect_in_a_quiet_moment([]() -> std::string {
    const RunRecord record =
        run(std::string("executor=") + GetParam().executor + " " + GetParam().what.settings);
    expect_closes(record);
    const Verdict verdict = analyse(record).verdict;
    return verdict.bound_by == GetParam().what.bound_by ? "" : verdict.sentence;
  });
}

const Case kMaking[] = {
    {"read", "workers=1 batch=1 cost=read=6ms compute=2ms warmup=2 steps=24", "read"},
    {"decompress", "workers=1 batch=1 cost=read.decompress=6ms:sleep compute=2ms warmup=2 steps=24",
     "read"},
    {"decode", "workers=1 batch=1 cost=decode=6ms:sleep compute=2ms warmup=2 steps=24", "decode"},
    {"augment", "workers=1 batch=2 cost=augment=3ms:sleep compute=2ms warmup=2 steps=24",
     "augment"},
    {"collate", "workers=1 batch=8 cost=collate=6ms:sleep compute=2ms warmup=2 steps=24",
     "collate"},
    {"injection",
     "workers=1 batch=1 inject=augment=+6ms cost=augment=0ms:sleep compute=2ms "
     "warmup=2 steps=24",
     "augment"},
    {"two_workers", "workers=2 batch=1 cost=decode=8ms:sleep compute=1ms warmup=4 steps=40",
     "decode"},
    {"samples_are_shared",
     "task=sample workers=2 batch=4 cost=decode=4ms:sleep compute=2ms warmup=2 steps=24", "decode"},
    {"samples_are_shared_and_collated",
     "task=sample workers=2 batch=4 cost=decode=1ms:sleep cost=collate=8ms:sleep compute=1ms "
     "warmup=2 steps=24",
     "collate"},
    {"no_workers", "workers=0 batch=2 cost=decode=3ms:sleep compute=2ms warmup=2 steps=24",
     "decode"},
    {"no_workers_in_step",
     "workers=0 in-flight=1 batch=1 cost=decode=6ms:sleep compute=2ms warmup=2 steps=24", "decode"},
    {"compute", "workers=1 batch=1 cost=decode=1ms:sleep compute=6ms warmup=4 steps=24", "compute"},
    {"null_device", "workers=1 batch=1 device=null cost=decode=4ms:sleep warmup=2 steps=24",
     "decode"},
    {"null_device_is_demanded",
     "workers=1 batch=1 device=null cost=decode=4ms:sleep demand=1000/s warmup=2 steps=24",
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(Making, Pipeline, testing::ValuesIn(on_each_executor(kMaking)),
                         name_of_case);

const Case kHandingOver[] = {
    {"transport",
     "workers=1 batch=1 cost=decode=1ms:sleep cost=transport=6ms:sleep compute=2ms warmup=2 "
     "steps=24",
     "transport"},
    {"receiving_by_the_trainer",
     "workers=1 batch=1 in-flight=1 cost=decode=1ms:sleep cost=transport.recv=6ms:sleep "
     "compute=2ms warmup=2 steps=24",
     "transport"},
    {"receiving_by_the_pin_thread",
     "workers=1 batch=1 memory=pin-thread cost=decode=1ms:sleep cost=transport.recv=6ms:sleep "
     "compute=2ms warmup=2 steps=24",
     "transport"},
    {"pin",
     "workers=1 batch=1 memory=pin-thread cost=decode=1ms:sleep cost=pin=6ms:sleep compute=2ms "
     "warmup=2 steps=24",
     "pin"},
    // A trainer that makes its own batches also pins them itself.
    {"pin_without_workers",
     "workers=0 batch=1 memory=pin-thread cost=decode=1ms:sleep cost=pin=6ms:sleep compute=2ms "
     "warmup=2 steps=24",
     "pin"},
    {"h2d_sync",
     "workers=1 batch=1 copy=sync cost=decode=1ms:sleep cost=h2d=6ms compute=2ms warmup=4 steps=24",
     "h2d"},
    {"h2d_async",
     "workers=1 batch=1 copy=async cost=decode=1ms:sleep cost=h2d=6ms compute=2ms warmup=4 "
     "steps=24",
     "h2d"},
    {"h2d_on_a_stream_of_its_own",
     "workers=1 batch=1 copy=stream cost=decode=1ms:sleep cost=h2d=8ms compute=2ms warmup=4 "
     "steps=24",
     "h2d"},
    {"h2d_is_hidden_on_a_stream_of_its_own",
     "workers=1 batch=1 copy=stream cost=decode=1ms:sleep cost=h2d=3ms compute=8ms warmup=4 "
     "steps=24",
     "compute"},
    {"h2d_of_pageable_memory",
     "workers=1 batch=1 memory=pageable cost=decode=1ms:sleep cost=h2d=6ms compute=2ms warmup=4 "
     "steps=24",
     "h2d"},
    // 1 MB at 0.1 GB/s.
    {"h2d_over_a_link",
     "workers=1 batch=1 delivered-bytes=1MB link=0.1/0.05 cost=decode=1ms:sleep compute=2ms "
     "warmup=4 steps=24",
     "h2d"},
    {"launch",
     "workers=1 batch=1 in-flight=1 cost=decode=1ms:sleep cost=launch=6ms:sleep compute=2ms "
     "warmup=2 steps=24",
     "launch"},
};
// The device makes the batches, after the workers have read them.
const Case kMadeOnDevice[] = {
    {"gpu_decode",
     "workers=2 batch=2 decode=hw cost=read=1ms cost=gpu-decode=4ms cost=gpu-augment=0 "
     "compute=2ms warmup=4 steps=24",
     "decode"},
    {"gpu_augment",
     "workers=2 batch=2 augment-on=gpu cost=decode=1ms:sleep cost=gpu-augment=4ms compute=2ms "
     "warmup=4 steps=24",
     "augment"},
    {"gpu_decode_is_hidden",
     "workers=2 batch=2 decode=hw cost=read=1ms cost=gpu-decode=1ms cost=gpu-augment=100us "
     "compute=8ms warmup=4 steps=24",
     "compute"},
    {"reads_for_gpu_decode",
     "workers=1 batch=2 decode=hw cost=read=4ms cost=gpu-decode=500us cost=gpu-augment=0 "
     "compute=2ms warmup=4 steps=24",
     "read"},
    {"pins_for_gpu_decode",
     "workers=1 batch=2 memory=pin-thread decode=hw cost=read=1ms cost=pin=8ms:sleep "
     "cost=gpu-decode=500us cost=gpu-augment=0 compute=2ms warmup=4 steps=24",
     "pin"},
    {"receives_for_gpu_decode",
     "workers=1 batch=1 decode=hw cost=read=1ms cost=transport.recv=6ms:sleep "
     "cost=gpu-decode=500us cost=gpu-augment=0 compute=2ms warmup=2 steps=24",
     "transport"},
    {"copies_for_gpu_decode",
     "workers=1 batch=1 decode=hw stored-bytes=1MB link=0.1/0.05 cost=read=1ms "
     "cost=gpu-decode=500us cost=gpu-augment=0 compute=2ms warmup=4 steps=24",
     "h2d"},
};
INSTANTIATE_TEST_SUITE_P(MadeOnDevice, Pipeline, testing::ValuesIn(on_each_executor(kMadeOnDevice)),
                         name_of_case);

INSTANTIATE_TEST_SUITE_P(HandingOver, Pipeline, testing::ValuesIn(on_each_executor(kHandingOver)),
                         name_of_case);

// Five batches an epoch, in 2 x 2.5 ms; starting takes 30.
const Case kEpochs[] = {
    {"restarted",
     "workers=2 batch=1 samples=5 epochs=6 cost=startup=30ms cost=decode=2ms:sleep compute=2ms "
     "warmup=5",
     "startup"},
    {"kept",
     "workers=2 batch=1 samples=5 epochs=6 persistent-workers=true cost=startup=30ms "
     "cost=decode=1ms:sleep compute=6ms warmup=5",
     "compute"},
    {"restarted_with_sample_tasks",
     "task=sample workers=2 batch=2 samples=10 epochs=6 cost=startup=30ms cost=decode=2ms:sleep "
     "compute=2ms warmup=5",
     "startup"},
    // Feeders are started again too.
    {"restarted_with_sample_tasks_and_transport",
     "task=sample workers=3 batch=2 samples=10 epochs=6 cost=startup=30ms cost=decode=2ms:sleep "
     "cost=transport=1ms:sleep compute=2ms warmup=5",
     "startup"},
    {"restarted_with_transport_and_pin",
     "workers=3 batch=1 samples=5 epochs=6 memory=pin-thread cost=startup=30ms "
     "cost=decode=2ms:sleep cost=transport=1ms:sleep cost=pin=1ms:sleep compute=2ms warmup=5",
     "startup"},
    {"started_by_the_trainer",
     "workers=3 batch=1 samples=5 epochs=6 cost=startup.parent=10ms:sleep cost=decode=1ms:sleep "
     "compute=2ms warmup=5",
     "startup"},
};
INSTANTIATE_TEST_SUITE_P(Epochs, Pipeline, testing::ValuesIn(on_each_executor(kEpochs)),
                         name_of_case);

Nanos production_wait(const Account& account) {
  Nanos sum = 0;
  for (const Nanos ns : account.why) sum += ns;
  return sum;
}

// Others may want the core too: then the worker waits for it, and that is known.
TEST(PipelineContention, BooksBusyWorkerToDecodeOrContention) {
  expect_in_a_quiet_moment([]() -> std::string {
    const RunRecord record =
        run("workers=1 batch=1 cost=decode=6ms:cpu compute=1ms warmup=2 steps=24");
    expect_closes(record);
    const StageStats& decode = record.ranks[0].stages[Stage::decode];
    EXPECT_EQ(decode.count, 24);
    EXPECT_GE(decode.cpu, 24 * 6 * kMillisecond * 95 / 100);
    EXPECT_LT(decode.cpu, 24 * 6 * kMillisecond * 2);
    const Account account = rank_account(record.ranks[0]);
    const Nanos making = account.stall[Cause::decode] + account.stall[Cause::contention];
    return making * 2 > account.idle() ? "" : analyse(record).verdict.sentence;
  });
}

TEST(PipelineWhy, ReportsCapacityForWorkerThatNeverRests) {
  const Account account = analyse(run("workers=1 batch=1 cost=decode=6ms:sleep compute=2ms "
                                      "warmup=2 steps=24"))
                              .account;
  EXPECT_GT(account.why[Why::capacity] * 2, production_wait(account));
}

// One at a time: each is made while the one before computes, 12 ms. Every fourth takes 21, after a
// rest of 11: nothing but an earlier dispatch would help.
TEST(PipelineWhy, ReportsDepthForWorkerThatRested) {
  expect_in_a_quiet_moment([]() -> std::string {
    const Account account =
        analyse(run("workers=1 prefetch=1 in-flight=1 batch=1 cost=decode=1ms:sleep "
                    "inject=decode=+20ms@every=4 compute=12ms warmup=4 steps=24"))
            .account;
    const Nanos depth = account.why[Why::depth];
    if (depth * 2 > production_wait(account) && depth > 9 * kMillisecond) return "";
    return std::to_string(depth) + " of " + std::to_string(production_wait(account)) + " ns";
  });
}

TEST(PipelineWhy, ReportsEpochForFirstBatchOfEpoch) {
  const Account account =
      analyse(run("workers=2 batch=1 samples=4 epochs=7 cost=startup=20ms cost=decode=2ms:sleep "
                  "compute=2ms warmup=4"))
          .account;
  EXPECT_GT(account.why[Why::epoch] * 2, production_wait(account));
}

// Worker 0 needs 24 ms a batch, worker 1 6. In order two steps per 24 ms, else five.
TEST(PipelineOrder, SavesCostOfOrderIfUnordered) {
  constexpr const char* kSlowWorker =
      "workers=2 batch=1 cost=decode=6ms:sleep inject=decode=+18ms@worker=0 compute=2ms warmup=4 "
      "steps=30";
  expect_in_a_quiet_moment([]() -> std::string {
    const RunRecord in_order = run(kSlowWorker);
    const RunRecord any = run(std::string(kSlowWorker) + " in-order=false");
    expect_closes(in_order);
    expect_closes(any);
    EXPECT_EQ(rank_account(any.ranks[0]).order, 0);
    const Account account = rank_account(in_order.ranks[0]);
    const double gain = analyse(any).samples_per_s.mean / analyse(in_order).samples_per_s.mean;
    if (account.order * 2 > account.idle() && gain > 1.3) return "";
    return std::to_string(account.order) + " of " + std::to_string(account.idle()) + " ns, " +
           std::to_string(gain) + " times the rate";
  });
}

constexpr const char* kTwoRanks =
    "ranks=2 batch=1 cost=decode=4ms:sleep inject=decode=+8ms@rank=1 compute=2ms "
    "warmup=2 steps=24";

TEST(PipelineRanks, EndsWindowsSeparatelyWithoutBarrier) {
  expect_in_a_quiet_moment([]() -> std::string {
    const RunRecord record = run(std::string(kTwoRanks) + " workers=1");
    expect_closes(record);
    EXPECT_EQ(record.ranks.at(0).steps(), 24);
    EXPECT_EQ(record.ranks.at(1).steps(), 24);
    EXPECT_EQ(rank_account(record.ranks[0]).waiting_for_ranks, 0);
    const Nanos fast = record.ranks[0].window(), slow = record.ranks[1].window();
    return slow > fast * 3 / 2 ? "" : std::to_string(fast) + " and " + std::to_string(slow) + " ns";
  });
}

TEST(PipelineRanks, WaitsForSlowestRankWithBarrier) {
  for (const std::string more :
       {" workers=1", " workers=1 copy=sync cost=h2d=1ms", " workers=1 copy=stream cost=h2d=1ms",
        " workers=1 memory=pageable cost=h2d=1ms", " workers=0"}) {
    SCOPED_TRACE(more);
    expect_in_a_quiet_moment([&]() -> std::string {
      const RunRecord record = run(std::string(kTwoRanks) + " sync-ranks=true" + more);
      expect_closes(record);
      EXPECT_EQ(record.ranks.at(0).steps(), 24);
      EXPECT_EQ(record.ranks.at(1).steps(), 24);
      EXPECT_EQ(record.ranks[0].window_end, record.ranks[1].window_end);
      const Account fast = rank_account(record.ranks[0]), slow = rank_account(record.ranks[1]);
      const bool fast_waits = fast.waiting_for_ranks * 2 > fast.idle();
      const bool slow_waits = slow.waiting_for_ranks * 2 >= slow.idle();
      if (fast_waits && !slow_waits) return "";
      return std::to_string(fast.waiting_for_ranks) + " of " + std::to_string(fast.idle()) +
             " ns, and " + std::to_string(slow.waiting_for_ranks) + " of " +
             std::to_string(slow.idle()) + " ns";
    });
  }
}

// A rank that has ended continues to load during the steps of the others. Its steps are not kept.
TEST(PipelineRanks, DropsStepsAfterEndOfRank) {
  struct Counter : EventObserver {
    std::int64_t steps[2] = {0, 0};
    void first_ask(std::int32_t, Nanos) override {}
    void span(std::int32_t, std::int32_t, const Span&) override {}
    void deliverable(std::int32_t, std::int64_t, Nanos) override {}
    void step(std::int32_t rank, const StepEvents&) override { ++steps[rank]; }
  } counter;
  RunContext context;
  context.observer = &counter;
  const RunRecord record =
      run("ranks=2 workers=1 batch=1 cost=decode=1ms:sleep "
          "inject=decode=+10ms@rank=1 compute=1ms warmup=2 steps=20",
          context);
  EXPECT_EQ(record.ranks[0].rows.size(), 22);
  EXPECT_EQ(counter.steps[0], 22);
  EXPECT_EQ(counter.steps[1], 22);
}

TEST(PipelineWindow, EndsAfterSteps) {
  const RunRecord record =
      run("workers=3 batch=1 cost=decode=1ms:sleep compute=1ms warmup=5 steps=31");
  EXPECT_EQ(record.ranks[0].steps(), 31);
  EXPECT_EQ(record.ranks[0].warmup_steps, 5);
  EXPECT_FALSE(record.input_ended_in_warmup);
}

TEST(PipelineWindow, EndsOnMultipleOfWorkersAfterDuration) {
  const RunRecord record =
      run("workers=3 batch=1 cost=decode=1ms:sleep compute=1ms warmup=5 duration=200ms");
  EXPECT_EQ(record.ranks[0].steps() % 3, 0);
  EXPECT_GE(record.ranks[0].window(), 200 * kMillisecond);
  EXPECT_LT(record.ranks[0].window(), 10 * kSecond);  // the default duration
}

TEST(PipelineWindow, HoldsEveryStepOfEpochs) {
  for (const std::string more :
       {"workers=3", "workers=3 persistent-workers=true", "workers=0", "workers=2 task=sample",
        "workers=3 in-order=false", "workers=2 memory=pin-thread", "workers=2 ranks=2",
        "workers=2 ranks=2 sync-ranks=true", "workers=1 device=null",
        "workers=3 executor=processes", "workers=3 executor=processes persistent-workers=true",
        "workers=2 executor=processes task=sample", "workers=3 executor=processes in-order=false",
        "workers=2 executor=processes memory=pin-thread", "workers=2 executor=processes ranks=2",
        "workers=2 executor=processes mp-context=forkserver"}) {
    SCOPED_TRACE(more);
    const RunRecord record =
        run("batch=4 samples=26 epochs=5 warmup=2 cost=decode=100us:sleep " +
            std::string(more.find("null") == more.npos ? "compute=100us " : "") + more);
    expect_closes(record);
    const std::int64_t batches = record.ranks.size() == 2 ? 4 : 7;  // 13 or 26 samples
    for (const RankRecord& rank : record.ranks) {
      EXPECT_EQ(rank.rows.size(), 5 * batches);
      EXPECT_EQ(rank.warmup_steps, 2);
    }
  }
}

// The last steps of the input come in just before the loader says that it is over.
TEST(PipelineWindow, KeepsLastStepsOfInput) {
  for (int i = 0; i < 40; ++i) {
    const RunRecord record = run("workers=1 batch=1 samples=" + std::to_string(8 + i % 9) +
                                 " epochs=1 warmup=0 cost=decode=700us:sleep device=null");
    ASSERT_EQ(record.ranks[0].rows.size(), 8 + i % 9);
  }
}

TEST(PipelineWindow, LimitsWarmUpByTime) {
  const RunRecord record =
      run("workers=1 batch=1 cost=decode=2ms:sleep compute=1ms warmup=500ms steps=20");
  EXPECT_EQ(record.ranks[0].steps(), 20);
  EXPECT_GT(record.ranks[0].warmup_steps, 5);
  EXPECT_LE(record.ranks[0].window_begin - record.ranks[0].first_ask, 500 * kMillisecond);
}

TEST(PipelineWindow, CoversInputThatEndsInWarmUp) {
  const RunRecord record =
      run("workers=2 batch=1 samples=6 epochs=1 cost=decode=1ms:sleep compute=1ms warmup=10");
  EXPECT_TRUE(record.input_ended_in_warmup);
  EXPECT_EQ(record.ranks[0].steps(), 6);
  EXPECT_FALSE(analyse(record).verdict.bound_by.has_value());
}

TEST(PipelineStop, KeepsMeasurementsAfterSignal) {
  for (const std::string more :
       {"workers=2", "workers=0", "workers=2 task=sample", "workers=2 memory=pin-thread",
        "workers=2 ranks=2 sync-ranks=true inject=decode=+30ms@rank=1", "workers=1 device=null",
        "workers=2 executor=processes", "workers=2 executor=processes task=sample",
        "workers=2 executor=processes memory=pin-thread ranks=2"}) {
    SCOPED_TRACE(more);
    std::atomic<int> signal{0};
    RunContext context;
    context.stop_signal = &signal;
    context.on_progress = [&](const Progress& progress) {
      if (progress.steps >= 20) signal = 2;  // sum over all ranks
    };
    const RunRecord record =
        run("batch=2 warmup=1 steps=100000 cost=decode=2ms:sleep " +
                std::string(more.find("null") == more.npos ? "compute=1ms " : "") + more,
            context);
    EXPECT_TRUE(record.interrupted);
    EXPECT_FALSE(record.input_ended_in_warmup);
    EXPECT_GT(record.ranks[0].steps(), 0);
    expect_closes(record);
  }
}

TEST(PipelineStop, StopsBeforeFirstStep) {
  std::atomic<int> signal{2};
  RunContext context;
  context.stop_signal = &signal;
  const RunRecord record = run("workers=2 batch=1 cost=decode=1h:sleep compute=1ms", context);
  EXPECT_TRUE(record.interrupted);
  EXPECT_EQ(record.ranks[0].steps(), 0);
  EXPECT_FALSE(analyse(record).verdict.bound_by.has_value());
}

TEST(PipelineStop, FailsWhenNoBatchComes) {
  for (const std::string more :
       {" workers=2", " workers=0", " workers=2 task=sample", " workers=2 ranks=2 sync-ranks=true",
        " workers=2 executor=processes", " workers=2 task=sample executor=processes"}) {
    try {  // a batch takes an hour
      run("batch=1 cost=decode=1h:sleep compute=1ms timeout=100ms" + more);
      ADD_FAILURE();
    } catch (const RunError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("no batch came for 100.0 ms: "))
          << error.what();
    }
  }
}

// The trainer waits for its device, not for a batch.
TEST(PipelineStop, WaitsForLongCompute) {
  EXPECT_EQ(run("workers=1 batch=1 cost=decode=1ms:sleep compute=1500ms timeout=1s warmup=0 "
                "steps=2")
                .ranks[0]
                .steps(),
            2);
}

// Many small stages: all facts come through, or the loss is known.
TEST(PipelineLoad, KeepsAllSpansOrReportsLoss) {
  const RunRecord record =
      run("workers=4 batch=64 device=null cost=read=0ms cost=decode=0ms "
          "cost=augment=0ms warmup=10 duration=300ms");
  if (record.lost_spans == 0) {
    expect_closes(record);
    EXPECT_EQ(record.ranks[0].stages[Stage::decode].count, 64 * record.ranks[0].steps());
  } else {
    EXPECT_TRUE(analyse(record).verdict.withheld_reason.has_value());
  }
}

}  // namespace
}  // namespace loaderscope::native
