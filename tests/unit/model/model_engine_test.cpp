// The model engine at its limits. That its facts are right is the matter of model_rules_test and of
// the account's tests.
#include "engine/model/model_engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "unit/account/random_pipelines.h"

namespace loaderscope {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

RunConfig make_config(const Settings& settings) { return resolve_pipeline(settings).config; }

void expect_closed(const RunRecord& record) {
  for (const RankRecord& rank : record.ranks) {
    Nanos booked = 0, end = rank.first_ask;
    rank.rows.for_each([&](const StepRow& row) {
      EXPECT_EQ(row.idle_begin, end);
      end = row.compute_end;
    });
    rank.rows.for_each(
        [&](const StepRow& row) {
          booked += std::accumulate(row.stall.begin(), row.stall.end(), row.compute());
        },
        rank.warmup_steps);
    EXPECT_EQ(booked, rank.window());
    EXPECT_EQ(end, rank.window_end);
  }
}

std::string run_error(const RunConfig& config) {
  try {
    run_pipeline(config);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(ModelEngine, SaysWhatItIs) {
  const RunRecord record =
      run_pipeline(make_config({{"num-workers", "2"}, {"cost", "decode=1ms"}, {"steps", "10"}}));
  EXPECT_EQ(record.engine, "model");
  EXPECT_TRUE(record.simulated);
  EXPECT_TRUE(record.contention_known);
  EXPECT_FALSE(record.interrupted);
  EXPECT_FALSE(record.input_ended_in_warmup);
  EXPECT_EQ(record.lost_spans, 0);
  ASSERT_EQ(record.ranks.size(), 1u);
  EXPECT_EQ(record.ranks[0].steps(), 10);
  EXPECT_EQ(record.ranks[0].warmup_steps, 5);
  EXPECT_EQ(record.ranks[0].samples, 640);
  expect_closed(record);
}

TEST(ModelEngine, KeepsWhatItHasWhenItIsStopped) {
  std::atomic<int> stop = 0;
  RunContext context;
  context.stop_signal = &stop;
  std::int64_t calls = 0;
  context.on_progress = [&](const Progress& progress) {
    ++calls;
    EXPECT_GE(progress.fraction, 0);
    EXPECT_LE(progress.fraction, 1);
    if (progress.steps > 0) stop = 2;
  };
  for (const char* sync : {"true", "false"}) {
    stop = 0;
    const RunConfig config = make_config({{"num-workers", "2"},
                                          {"ranks", "2"},
                                          {"sync-ranks", sync},
                                          {"cost", "decode=lognormal:1ms:0.5"},
                                          {"compute", "30ms"},
                                          {"duration", "700h"}});
    const RunRecord record = run_model(config, context);
    EXPECT_TRUE(record.interrupted);
    EXPECT_GT(calls, 0);
    EXPECT_GT(record.ranks[0].steps(), 0);
    expect_closed(record);
  }
}

TEST(ModelEngine, StopsOnSignalFromThread) {
  std::atomic<int> stop = 0;
  RunContext context;
  context.stop_signal = &stop;
  const RunConfig config = make_config(
      {{"num-workers", "4"}, {"cost", "decode=1ms"}, {"task", "sample"}, {"duration", "700h"}});
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop = 15;
  });
  const RunRecord record = run_model(config, context);
  later.join();
  EXPECT_TRUE(record.interrupted);
  expect_closed(record);
}

TEST(ModelEngine, ReturnsEmptyRecordIfStoppedAtOnce) {
  const std::atomic<int> stop = 2;
  RunContext context;
  context.stop_signal = &stop;
  // The engine checks the signal before the first batch is delivered.
  const RunConfig config = make_config({{"num-workers", "1"},
                                        {"batch-size", "100000"},
                                        {"cores", "0.5"},
                                        {"cost", "decode=1ms"},
                                        {"steps", "1"}});
  const RunRecord record = run_model(config, context);
  EXPECT_TRUE(record.interrupted);
  EXPECT_TRUE(record.ranks[0].rows.empty());
  EXPECT_EQ(record.ranks[0].window(), 0);
}

TEST(ModelEngine, RefusesRunsWithoutProgress) {
  // The injection hits no sample of the run, so no step takes time.
  const std::string error = run_error(make_config({{"num-workers", "1"},
                                                   {"batch-size", "1"},
                                                   {"inject", "decode=+1ms@every=1000000000"},
                                                   {"duration", "1s"}}));
  EXPECT_NE(error.find("nothing in a step takes any time"), std::string::npos) << error;
}

Settings two_of_which_one_is_late(const std::string& cores) {
  return {{"num-workers", "1"},
          {"ranks", "2"},
          {"batch-size", "1"},
          {"cores", cores},
          {"cost", "startup=1ms"},
          {"inject", "decode=+1ns@every=1000000000"},
          {"inject", "startup=+5ms@rank=1"},
          {"steps", "10"}};
}

// Rank 0 is done and takes no time any more: rank 1, which shares its core, would never get on.
TEST(ModelEngine, RefusesToHangForDoneRank) {
  const std::string error = run_error(make_config(two_of_which_one_is_late("1")));
  EXPECT_NE(error.find("take no time"), std::string::npos) << error;
}

TEST(ModelEngine, FinishesIfDoneRankSharesNoCore) {
  const RunRecord record = run_pipeline(make_config(two_of_which_one_is_late("8")));
  for (const RankRecord& rank : record.ranks) EXPECT_EQ(rank.steps(), 10);
}

TEST(ModelEngine, RunsManyStepsWithoutTime) {
  const RunRecord record = run_pipeline(make_config({{"num-workers", "2"},
                                                     {"batch-size", "1"},
                                                     {"inject", "decode=+1ms@every=1000000000"},
                                                     {"steps", std::to_string(times(300'000))}}));
  EXPECT_EQ(record.ranks[0].steps(), times(300'000));
  EXPECT_EQ(record.ranks[0].window(), 0);
}

TEST(ModelEngine, EndsBeforeTheEndOfTime) {
  const Settings long_steps = {
      {"num-workers", "1"}, {"batch-size", "1"}, {"cost", "decode=720h:sleep"}, {"steps", "3000"}};
  EXPECT_NE(run_error(make_config(long_steps)).find("146 years"), std::string::npos)
      << run_error(make_config(long_steps));
  // The time passes in one batch, on shared cores, ahead on the device, or on a slow core.
  for (const Settings& settings :
       {Settings{{"num-workers", "1"},
                 {"batch-size", "8000"},
                 {"cost", "decode=720h:sleep"},
                 {"steps", "1"}},
        Settings{{"num-workers", "4"},
                 {"batch-size", "8000"},
                 {"cost", "decode=720h"},
                 {"cores", "1"},
                 {"steps", "1"}},
        Settings{
            {"num-workers", "2"}, {"in-flight", "60000"}, {"compute", "720h"}, {"steps", "60000"}},
        Settings{{"num-workers", "200"},
                 {"batch-size", "1"},
                 {"cost", "decode=720h"},
                 {"cores", "0.001"},
                 {"steps", "1"}}}) {
    const std::string error = run_error(make_config(settings));
    EXPECT_NE(error.find("146 years"), std::string::npos) << error;
  }
}

TEST(ModelEngine, RefusesTotalsThatDoNotFit) {
  // A hundred workers for three years each.
  const std::string time = run_error(make_config({{"num-workers", "100"},
                                                  {"batch-size", "1"},
                                                  {"cost", "decode=720h:sleep"},
                                                  {"steps", "4000"}}));
  EXPECT_NE(time.find("292 years"), std::string::npos) << time;
  RunConfig config = make_config(
      {{"num-workers", "1"}, {"batch-size", "1"}, {"cost", "decode=1ms"}, {"steps", "20"}});
  config.data.stored_bytes.value.mean = 0x1p60;
  EXPECT_NE(run_error(config).find("8 EiB"), std::string::npos) << run_error(config);
}

// Works without a cost follow each other as events, not as nested calls.
TEST(ModelEngine, MakesMillionBatchesAheadWithoutNesting) {
  for (const char* task : {"batch", "sample"}) {
    const RunRecord record =
        run_pipeline(make_config({{"num-workers", "1"},
                                  {"batch-size", "1"},
                                  {"task", task},
                                  {"prefetch-factor", std::to_string(times(1 << 20))},
                                  {"compute", "1ms"},
                                  {"steps", "10"}}));
    EXPECT_EQ(record.ranks[0].steps(), 10);
    EXPECT_GE(record.ranks[0].queues[0].max_occupancy, times(1 << 20) - 1);
    expect_closed(record);
  }
}

TEST(ModelEngine, RunsThousandsOfWorkers) {
  for (const char* task : {"batch", "sample"}) {
    const RunRecord record = run_pipeline(make_config({{"num-workers", "4096"},
                                                       {"batch-size", "64"},
                                                       {"task", task},
                                                       {"cost", "decode=lognormal:8ms:0.5"},
                                                       {"cores", "100"},
                                                       {"compute", "1ms"},
                                                       {"steps", std::to_string(times(2000))}}));
    EXPECT_EQ(record.ranks[0].steps(), times(2000));
    expect_closed(record);
  }
}

TEST(ModelEngine, RejectsEpochsWithoutBatch) {
  const Settings settings = {
      {"num-workers", "1"}, {"samples", "100"}, {"cost", "decode=1ms"}, {"steps", "3"}};
  EXPECT_EQ(run_error(make_config(settings)), "");
  RunConfig config = make_config(settings);
  config.loader.drop_last.set(true);
  config.loader.batch_size.set(101);
  EXPECT_NE(run_error(config).find("drop-last"), std::string::npos) << run_error(config);
}

TEST(ModelEngine, DropsShortBatchWithDropLast) {
  const auto step_samples = [](const char* drop_last) {
    const RunRecord record = run_pipeline(make_config({{"num-workers", "2"},
                                                       {"samples", "10"},
                                                       {"batch-size", "4"},
                                                       {"epochs", "2"},
                                                       {"drop-last", drop_last},
                                                       {"cost", "decode=1ms"},
                                                       {"warmup", "0"}}));
    std::vector<std::int32_t> samples;
    for (const StepRow& row : collect_rows(record.ranks[0])) samples.push_back(row.samples);
    return samples;
  };
  EXPECT_EQ(step_samples("true"), (std::vector<std::int32_t>{4, 4, 4, 4}));
  EXPECT_EQ(step_samples("false"), (std::vector<std::int32_t>{4, 4, 2, 4, 4, 2}));
}

// One worker that is slower than the whole run: the others deliver all there is, and nothing piles
// up.
TEST(ModelEngine, DeliversDespiteStuckWorkerOutOfOrder) {
  for (const char* task : {"batch", "sample"}) {
    const RunRecord record = run_pipeline(make_config({{"num-workers", "4"},
                                                       {"batch-size", "4"},
                                                       {"task", task},
                                                       {"prefetch-factor", "4"},
                                                       {"in-order", "false"},
                                                       {"cost", "decode=1ms"},
                                                       {"inject", "decode=+700h@worker=3"},
                                                       {"cores", "8"},
                                                       {"steps", std::to_string(times(100'000))}}));
    EXPECT_EQ(record.ranks[0].steps(), times(100'000));
    EXPECT_LT(record.ranks[0].window(), 200 * kSecond);
    expect_closed(record);
  }
}

// Rank 0 is done long before rank 1 and keeps running, but its further steps are not kept.
TEST(ModelEngine, KeepsRunningDoneRankWithoutRecord) {
  const RunRecord record = run_pipeline(make_config({{"num-workers", "2"},
                                                     {"ranks", "2"},
                                                     {"batch-size", "2"},
                                                     {"cost", "decode=1ms"},
                                                     {"cores", "1"},
                                                     {"inject", "compute=+500ms@rank=1"},
                                                     {"compute", "1ms"},
                                                     {"steps", "50"}}));
  EXPECT_EQ(record.ranks[0].steps(), 50);
  EXPECT_EQ(record.ranks[1].steps(), 50);
  EXPECT_LT(record.ranks[0].window_end, kSecond);
  EXPECT_GT(record.ranks[1].window_end, 25 * kSecond);
  expect_closed(record);
}

std::vector<Nanos> deliverable_at(const Settings& settings) {
  FactKeeper facts;
  run_pipeline(make_config(settings), &facts);
  std::vector<Nanos> times;
  for (const StepEvents& step : facts.ranks[0].steps) {
    times.push_back(step.deliverable / kMillisecond);
  }
  return times;
}

TEST(ModelEngine, LimitsConcurrentReads) {
  const Settings settings = {
      {"num-workers", "5"},        {"batch-size", "1"}, {"prefetch-factor", "1"}, {"compute", "1h"},
      {"storage-latency", "10ms"}, {"warmup", "0"},     {"steps", "5"},           {"cores", "8"}};
  EXPECT_EQ(deliverable_at(settings), (std::vector<Nanos>{10, 10, 10, 10, 10}));
  Settings slowed = settings;
  slowed.emplace_back("inject", "read=+7ms@worker=2");
  EXPECT_EQ(deliverable_at(slowed), (std::vector<Nanos>{10, 10, 17, 10, 10}));
  for (const auto& [places, expected] : {std::pair("1", std::vector<Nanos>{10, 20, 30, 40, 50}),
                                         {"2", {10, 10, 20, 20, 30}},
                                         {"4", {10, 10, 10, 10, 20}}}) {
    Settings limited = settings;
    limited.emplace_back("storage-concurrency", places);
    EXPECT_EQ(deliverable_at(limited), expected) << places;
  }
}

TEST(ModelEngine, SharesBandwidthAfterLatency) {
  const Settings settings = {{"num-workers", "2"},
                             {"batch-size", "1"},
                             {"prefetch-factor", "1"},
                             {"compute", "1h"},
                             {"storage-latency", "10ms"},
                             {"storage-bandwidth", "100MB/s"},
                             {"stored-bytes", "1MB"},
                             {"warmup", "0"},
                             {"steps", "2"},
                             {"cores", "8"}};
  EXPECT_EQ(deliverable_at(settings), (std::vector<Nanos>{30, 30}));
  Settings later = settings;
  // The second begins 5 ms later: 5 ms alone, then the rest of both together.
  later.emplace_back("inject", "startup=+5ms@worker=1");
  EXPECT_EQ(deliverable_at(later), (std::vector<Nanos>{25, 30}));
}

// Returns the times in ms between the deliverable batches of the first steps.
std::vector<Nanos> gaps_with(const char* injection) {
  std::vector<Nanos> times = deliverable_at({{"num-workers", "1"},
                                             {"batch-size", "2"},
                                             {"cost", "decode=10ms"},
                                             {"samples", "6"},
                                             {"inject", injection},
                                             {"warmup", "0"},
                                             {"steps", "6"},
                                             {"cores", "8"}});
  for (std::size_t i = times.size() - 1; i > 0; --i) times[i] -= times[i - 1];
  return times;
}

TEST(ModelEngine, InjectsAtGivenPlaces) {
  EXPECT_EQ(gaps_with("decode=+1ms"), (std::vector<Nanos>{22, 22, 22, 22, 22, 22}));
  // Samples and batches are counted in each epoch.
  EXPECT_EQ(gaps_with("decode=+1ms@every=3"), (std::vector<Nanos>{20, 21, 21, 20, 21, 21}));
  EXPECT_EQ(gaps_with("collate=+1ms@every=2"), (std::vector<Nanos>{20, 21, 20, 20, 21, 20}));
  EXPECT_EQ(gaps_with("collate=+1ms@worker=0"), (std::vector<Nanos>{21, 21, 21, 21, 21, 21}));
  EXPECT_EQ(gaps_with("collate=+1ms@p=0.000001"), (std::vector<Nanos>{20, 20, 20, 20, 20, 20}));
}

TEST(ModelEngine, CountsEveryStageThatTakesTime) {
  const RunRecord record = run_pipeline(make_config({{"num-workers", "2"},
                                                     {"batch-size", "3"},
                                                     {"executor", "processes"},
                                                     {"memory", "pageable"},
                                                     {"cost", "read=1ms"},
                                                     {"cost", "read.decompress=1ms"},
                                                     {"cost", "decode=1ms"},
                                                     {"cost", "augment=1ms"},
                                                     {"cost", "collate=2ms"},
                                                     {"cost", "transport=2ms"},
                                                     {"cost", "transport.recv=1ms"},
                                                     {"cost", "h2d=3ms"},
                                                     {"cost", "launch=1ms"},
                                                     {"cost", "startup=9ms"},
                                                     {"cost", "startup.parent=4ms"},
                                                     {"compute", "1ms"},
                                                     {"cores", "8"},
                                                     {"warmup", "0"},
                                                     {"steps", "10"}}));
  const PerStage<StageStats>& stages = record.ranks[0].stages;
  for (const Stage stage : {Stage::read, Stage::read_decompress, Stage::decode, Stage::augment}) {
    EXPECT_EQ(stages[stage].count, 30) << name_of(stage);
    EXPECT_EQ(stages[stage].wall, 30 * kMillisecond) << name_of(stage);
  }
  for (const auto& [stage, ms] : {std::pair(Stage::collate, 2),
                                  {Stage::transport, 2},
                                  {Stage::transport_recv, 1},
                                  {Stage::h2d, 3},
                                  {Stage::launch, 1},
                                  {Stage::compute, 1}}) {
    EXPECT_EQ(stages[stage].count, 10) << name_of(stage);
    EXPECT_EQ(stages[stage].wall, 10 * ms * kMillisecond) << name_of(stage);
  }
  EXPECT_EQ(stages[Stage::startup].count, 2);
  EXPECT_EQ(stages[Stage::startup].wall, 18 * kMillisecond);
  EXPECT_EQ(stages[Stage::startup_parent].count, 2);
  EXPECT_EQ(stages[Stage::startup_parent].wall, 8 * kMillisecond);
}

}  // namespace
}  // namespace loaderscope
