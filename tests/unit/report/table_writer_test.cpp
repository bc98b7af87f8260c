#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "loaderscope/report.h"
#include "report/results.h"
#include "report/writers.h"
#include "unit/report/sample_finding.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Table, WritesAnswerThenEvidenceThenNextCommand) {
  std::ostringstream out;
  const RunRecord record = full_record();
  Analysis analysis = analysis_with(record, {{"num-workers", "4"}});
  analysis.proof = full_proof();
  write_table(out, make_result(record, analysis), {100, false, true});
  EXPECT_EQ(
      out.str(),
      R"(Simulated: the GPU waits 75.0 % of the time (±0.0), mostly for decode (60.0 %): the workers never rest
Fix: num-workers=4 -> 25.0 % to 50.0 % busy, 160 to 320 samples/s, an epoch 6.667 min to 3.333 min.
  18.0 GPU-hours a day are lost now
PyTorch: DataLoader(..., num_workers=4)
Why: 2 workers never rest (too-few-workers)
160 samples/s (±0); step 100.0 ms, p99 100.0 ms; reads 17.6 MB/s; delivers 96.3 MB/s
40 steps after 4 of warm-up, steady; 4.000 s of virtual time; an epoch of 64,000 samples takes
  6.667 min
  GPU time  per step   share  95 %
  compute   25.00 ms  25.0 %  ±0.0  #########
  decode    60.00 ms  60.0 %  ±0.0  ######################
  read      15.00 ms  15.0 %  ±0.0  #####
proved: decode knocked out -> predicted 62.5 %, measured 62.5 % busy (61.3-63.7); rate
  x2.50 predicted, x2.50 (2.47-2.54) measured
cannot tell: a window 4 times as deep (prefetch-factor=8) -> measured 62.5 % busy (61.3-63.7); rate
  x2.50 (2.47-2.54) measured
a window 4 times as deep was not proved: the disk is full
Waiting for batches takes 75.0 % of the time: capacity 100.0 % of that
  stage    count      mean       p50       p99       max   CPU  no core  blocked       rate
  read       640  750.0 us  750.0 us  750.0 us  750.0 us   0 %             100 %   147 MB/s
  decode     640  6.000 ms  6.000 ms  6.000 ms  6.000 ms  83 %      8 %      8 %  18.3 MB/s
  compute     40  25.00 ms  25.00 ms  25.00 ms  25.00 ms
The model gives the base case's rate -1.2 %, decode +0.8 points
first batch after 1.595 s: import 1.500 s, decode 60.00 ms, index 20.00 ms, read 15.00 ms
queue ready: 0.2 of 4 on average, at most 2; takers waited 3.000 s
  memory.pinned_bytes  38.5 MB  page-locked host memory
  memory.host_slots         11  host slots
- prefetch-factor has no effect
- no epoch ended within the window, so what restarting the workers costs was not seen
how a word is measured, and when it is wrong: loaderscope explain too-few-workers
saved out/r 50.json
Next: loaderscope run --samples 64000 --num-workers 2 --batch-size 16 --compute 25ms --try
)");
}

TEST(Table, NamesStragglerOfTwoRanks) {
  const std::string table = table_text(two_ranks());
  EXPECT_THAT(table, HasSubstr("\n2 ranks: busy 25.0-30.0 %; rank 1 is the straggler, others wait "
                               "up to 5.0 % of the time for it\n"));
  EXPECT_THAT(
      table,
      HasSubstr("\n40 steps per rank after 4 of warm-up, steady; 4.000 s of virtual time\n"));
  RunRecord alike = usual_record();
  alike.ranks.push_back(make_rank_record(4, 40, usual_step));
  EXPECT_THAT(table_text(alike),
              HasSubstr("\n2 ranks: busy 25.0 %; ranks do not wait for each other\n"));
  alike.config.engine.set("torch");
  EXPECT_THAT(table_text(alike), HasSubstr("; no wait of ranks for each other was seen\n"));
  alike.config.trainer.sync_ranks.set(true);
  EXPECT_THAT(table_text(alike), HasSubstr("\n2 ranks: busy 25.0 %, no straggler\n"));
}

TEST(Table, NamesSlowestOfRanksThatDoNotWait) {
  RunRecord apart = usual_record();
  apart.ranks.push_back(make_rank_record(4, 40, usual_step));
  apart.ranks.back().samples /= 2;
  EXPECT_THAT(table_text(apart),
              HasSubstr("; rank 1 is the slowest, ranks do not wait for each other\n"));
}

TEST(Table, ShowsOwnWaitsAndWaitsForOtherRanks) {
  const std::string table = table_text(two_ranks());
  EXPECT_THAT(table,
              HasSubstr("  rank  samples/s    busy  own waits  for other ranks  mostly for\n"
                        "     0        160  25.0 %     70.0 %            5.0 %  decode 60.0 %\n"
                        "     1        160  30.0 %     70.0 %            0.0 %  decode 60.0 %\n"));
  EXPECT_THAT(table_text(full_record()), Not(HasSubstr("own waits")));
  RunRecord many = usual_record();
  for (int rank = 1; rank < 20; ++rank) many.ranks.push_back(make_rank_record(4, 40, usual_step));
  EXPECT_THAT(
      table_text(many),
      HasSubstr("  these are the slowest; the other 10 ranks are in the result of --json\n"));
}

TEST(Table, NamesTheCeilingsThatAreKnown) {
  RunRecord record = usual_record();
  EXPECT_THAT(table_text(record), Not(HasSubstr("At most")));
  record.metrics = {{"process.cpu_s", "s", "CPU time", 6.4}};  // 10 ms for each of 640 samples
  record.ranks[0].stages[Stage::h2d].add(kMillisecond, 0, 0, 16 * 602'112);
  EXPECT_THAT(table_text(record, {200, false}),
              HasSubstr("At most 400 samples/s by 4 cores at 10.00 ms of CPU time per sample "
                        "(40.0 % reached); 41,521 samples/s by the link at 25.0 GB/s (0.4 % "
                        "reached)\n"));
}

// PyTorch's own thread pool spins during training on the GPU.
TEST(Table, CountsOnlyTimeOfSamplesForCeilingOfProgram) {
  RunRecord record = usual_record();
  record.config.program.command.set({"train.py"});
  record.program = ProgramFacts{{}, {}, true, {}};
  record.metrics = {{"process.cpu_s", "s", "CPU time", 14.4}};
  record.ranks[0].stages[Stage::decode].add(kSecond, 6400 * kMillisecond, 0, 0);
  EXPECT_THAT(
      table_text(record, {200, false}),
      HasSubstr("At most 400 samples/s by 4 cores at 10.00 ms of CPU time to make a sample, "
                "were 2 cores not taken by other threads (torch.set_num_threads) (40.0 % "
                "reached)\n"));
  record.program->uses_gpu = false;
  record.config.trainer.device.set("script");
  EXPECT_THAT(table_text(record, {200, false}), HasSubstr("at 22.50 ms of CPU time per sample"));
}

// 1.5 MB in 1 us would be 1.5 TB/s.
TEST(Table, ShowsRatesOnlyForStagesThatMoveBytes) {
  RunRecord record = usual_record();
  PerStage<StageStats>& stages = record.ranks[0].stages;
  stages[Stage::transport].add(kMillisecond, 1000, 0, 1'500'000);
  stages[Stage::pin].add(kMillisecond, kMillisecond, 0, 1'500'000);
  stages[Stage::h2d].add(kMillisecond, 0, 0, 3'000'000);
  EXPECT_THAT(table_text(record), HasSubstr("1.50 GB/s\n"));
  EXPECT_THAT(table_text(record), HasSubstr("3.00 GB/s\n"));
  EXPECT_THAT(table_text(record), ContainsRegex("transport .* 100 %\n"));
  EXPECT_THAT(table_text(record), ContainsRegex("h2d .* 1.000 ms +3.00 GB/s\n"))
      << "no thread was looked at";
  record.config.program.command.set({"train.py"});
  EXPECT_THAT(table_text(record), Not(HasSubstr("3.00 GB/s")));
  record.metrics = {{"gpu.h2d_s", "s", "", 1}, {"gpu.h2d_bytes", "bytes", "", 55e9}};
  EXPECT_THAT(table_text(record), HasSubstr("55.0 GB/s\n"));
}

TEST(Table, NamesSkippedSamplesAfterTheirNumber) {
  RunRecord record = usual_record();
  record.skipped = {1, {{"truncated", 1}}, {"a/b.jpg: is empty"}};
  EXPECT_THAT(table_text(record),
              HasSubstr("skipped 1 sample: 1 truncated; the next good one took its place\n"
                        "  a/b.jpg: is empty\n"));
}

TEST(Table, PrintsOnlyReasonWithoutSteps) {
  EXPECT_EQ(table_text(make_run_record(0, 0, usual_step)),
            "Simulated: no verdict: no step was measured; give --steps 100\n"
            "Next: loaderscope run --num-workers 2 --batch-size 16 --compute 25ms --steps 100\n");
}

TEST(Table, FitsItsWidth) {
  for (int width : {40, 80, 200}) {
    std::istringstream lines(table_text(full_record(), {width, false}));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  ")) {
        EXPECT_FALSE(line.ends_with(' '));
      }
    }
  }
  const std::string narrow = table_text(full_record(), {70, false});
  const std::string wide = table_text(full_record(), {200, false});
  EXPECT_THAT(narrow, HasSubstr("60.0 %  ±0.0  ######\n"));
  EXPECT_THAT(wide, HasSubstr("60.0 %  ±0.0  ########################\n"));
}

TEST(Table, UsesColourOnlyOnRequest) {
  EXPECT_THAT(table_text(usual_record()), Not(HasSubstr("\x1b")));
  EXPECT_THAT(table_text(usual_record(), {100, true}), testing::StartsWith("\x1b[1;31mSimulated:"));
}

TEST(Table, EscapesControlCharacters) {
  RunRecord record = full_record();
  record.notes = {"\x1b[2Jgone"};
  record.metrics = {{"memory.\x1b[1m", "bytes\x07", "\r", 1}};
  record.config.answer.json.set("\x1b]0;title\x07");
  record.ranks[0].queues[0].name = "\n";
  record.before_first_ask = {{"\x1b", 5}};
  record.details = {{"decode", "\x1b[31mload"}};
  const std::string table = table_text(record);
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_THAT(table, Not(HasSubstr("\r")));
  EXPECT_THAT(table, HasSubstr("- \\x1b[2Jgone"));
  EXPECT_THAT(table, HasSubstr("\\x1b[31mload"));
}

TEST(Table, NamesSlowestCallsOfStage) {
  RunRecord record = usual_record();
  record.details = {{"decode", "Image.load", 0.75}, {"decode", "Image.open", 0.25}};
  EXPECT_THAT(table_text(record), HasSubstr("#  Image.load 75.0 %\n"));
  record.details = {{"decode", "decode (train.py:12)"}};
  EXPECT_THAT(table_text(record), HasSubstr("#  decode (train.py:12)\n"));
}

TEST(Table, ShowsOrderAndLaunchAndUnknownContention) {
  RunRecord record = usual_record();
  RankRecord rank = make_rank_record(0, 0, usual_step);
  for (std::int64_t i = 0; i < 40; ++i) {
    StepRow row =
        make_step_row(make_step_plan(50 * kMillisecond, {{Cause::launch, 50 * kMillisecond}}), i,
                      rank.window_end, false);
    row.not_asking = 30 * kMillisecond;
    row.order = 4 * kMillisecond;
    rank.rows.push_back(row);
    rank.window_end = row.compute_end;
  }
  record.ranks[0] = std::move(rank);
  record.contention_known = false;
  record.config.trainer.in_flight.set(1);
  const std::string table = table_text(record);
  EXPECT_THAT(table, HasSubstr("30.00 ms of it not asking for a batch that is ready\n"));
  EXPECT_THAT(table, HasSubstr("For 4.0 % of the time a later batch was ready while a late one was "
                               "awaited; --no-in-order"));
  EXPECT_THAT(table, HasSubstr("contention is not known here"));
  EXPECT_THAT(
      table,
      HasSubstr("for launch: a batch is ready and the trainer is busy with something else\n"));
}

}  // namespace
}  // namespace loaderscope
