// Production on the device in the account: worked examples, in ns.
#include <gtest/gtest.h>

#include <numeric>

#include "record/book_step.h"
#include "record/rank_waits.h"
#include "record/recorder.h"

namespace loaderscope {
namespace {

DeviceWork task(Stage stage, Lane lane, Interval submit, Nanos begin, Nanos end) {
  return {stage, lane, submit, {begin, end}};
}

PerCause<Nanos> stalls(std::initializer_list<std::pair<Cause, Nanos>> booked) {
  PerCause<Nanos> stall{};
  for (const auto& [cause, ns] : booked) stall[cause] = ns;
  return stall;
}

PerWhy<Nanos> whys(std::initializer_list<std::pair<Why, Nanos>> labelled) {
  PerWhy<Nanos> why{};
  for (const auto& [label, ns] : labelled) why[label] = ns;
  return why;
}

// A step before, which only computes during `compute`; then `step`, which begins to compute at
// `begin`.
RankRecord fold(Interval compute, StepEvents step, Nanos begin,
                const std::vector<Span>& spans = {}) {
  FoldOptions options;
  Folder folder(options);
  folder.first_ask(0, 0);
  StepEvents before;
  before.first_of_epoch = true;
  before.compute = compute;
  before.ready = compute.begin;
  folder.step(0, before);
  for (const Span& span : spans) folder.span(0, 0, span);
  step.step = step.batch = 1;
  step.compute = {begin, begin + 10};
  step.ready = begin;
  folder.step(0, step);
  return std::move(folder.finish().front());
}

StepRow second_row(const RankRecord& rank) {
  std::vector<StepRow> rows(1);
  rank.rows.read(1, rows);
  EXPECT_EQ(std::accumulate(rows[0].stall.begin(), rows[0].stall.end(), Nanos{0}), rows[0].idle());
  EXPECT_EQ(rows[0].clamped, 0);
  return rows[0];
}

// The copy ends at 107, decoding at 137, augmenting at 145.
StepEvents decoded_batch() {
  StepEvents step;
  step.finished = 90;
  step.handed = 92;
  step.made = {task(Stage::h2d, Lane::copy, {93, 94}, 95, 107),
               task(Stage::gpu_decode, Lane::decode, {94, 95}, 107, 137),
               task(Stage::gpu_augment, Lane::work, {95, 96}, 137, 145)};
  step.made_count = 3;
  step.deliverable = 96;
  step.ask = 60;
  step.take = 97;
  step.launch = {97, 99};
  step.submitted = 99;
  return step;
}

TEST(DeviceWork, DelaysStepWhenItRunsAlone) {
  const RankRecord rank = fold({40, 100}, decoded_batch(), 147);
  const StepRow row = second_row(rank);
  EXPECT_EQ(row.idle(), 47);
  EXPECT_EQ(
      row.stall,
      stalls({{Cause::h2d, 7}, {Cause::decode, 30}, {Cause::augment, 8}, {Cause::launch, 2}}));
  EXPECT_EQ(row.device, (DeviceProduction{30, 8, 0, 0}));
  EXPECT_EQ(row.why, whys({{Why::capacity, 38}}));
  EXPECT_EQ(row.made_end, 145);
}

TEST(DeviceWork, CostsNothingDuringCompute) {
  const StepRow row = second_row(fold({40, 140}, decoded_batch(), 147));
  EXPECT_EQ(row.idle(), 7);
  EXPECT_EQ(row.stall, stalls({{Cause::augment, 5}, {Cause::launch, 2}}));
  EXPECT_EQ(row.device, (DeviceProduction{0, 5, 0, 33}));
  EXPECT_EQ(row.why, whys({{Why::capacity, 5}}));
}

// Another rank has the engines until 118.
TEST(DeviceWork, DelaysStepWhileItWaitsForAnEngine) {
  StepEvents step;
  step.finished = 80;
  step.handed = 84;
  step.slot_wait = 7;
  step.made = {task(Stage::h2d, Lane::copy, {91, 92}, 92, 96),
               task(Stage::gpu_decode, Lane::decode, {92, 93}, 118, 148),
               task(Stage::gpu_augment, Lane::work, {93, 94}, 148, 152)};
  step.made_count = 3;
  step.deliverable = 94;
  step.ask = 60;
  step.take = 95;
  step.launch = {95, 97};
  step.submitted = 97;
  const StepRow row = second_row(fold({10, 100}, step, 153));
  EXPECT_EQ(row.idle(), 53);
  EXPECT_EQ(row.stall, stalls({{Cause::decode, 48}, {Cause::augment, 4}, {Cause::launch, 1}}));
  EXPECT_EQ(row.device, (DeviceProduction{48, 4, 18, 0}));
  EXPECT_EQ(row.why, whys({{Why::depth, 7}, {Why::latency, 45}}));
  EXPECT_EQ(row.made_end, 152);
}

// The trainer takes the batch at 103, copies it, and lets the device augment it.
StepEvents augmented_batch() {
  StepEvents step;
  step.finished = 90;
  step.deliverable = 92;
  step.ask = 101;
  step.take = 103;
  step.copy = {104, 108};
  step.made = {task(Stage::gpu_decode, Lane::decode, {108, 108}, 108, 118),
               task(Stage::gpu_augment, Lane::work, {118, 118}, 120, 125)};
  step.made_count = 2;
  step.submitted_by_trainer = true;
  return step;
}

TEST(DeviceWork, BooksTasksThatTrainerSubmits) {
  StepEvents step = augmented_batch();
  step.hidden_production = 6;
  const RankRecord rank = fold({40, 100}, step, 127);
  const StepRow row = second_row(rank);
  EXPECT_EQ(row.stall, stalls({{Cause::transport, 2},
                               {Cause::h2d, 4},
                               {Cause::decode, 10},
                               {Cause::augment, 5},
                               {Cause::launch, 6}}));
  EXPECT_EQ(row.device, (DeviceProduction{10, 5, 0, 6}));
  EXPECT_EQ(row.not_asking, 1);
  EXPECT_EQ(row.why, whys({{Why::capacity, 15}}));
  EXPECT_EQ(row.made_end, 125);
  ASSERT_TRUE(rank.critical_path);
  EXPECT_EQ(rank.critical_path->stall[Cause::decode], 10);
  EXPECT_EQ(rank.critical_path->stall[Cause::augment], 5);
}

TEST(DeviceWork, MovesTasksOfTrainerIntoOrder) {
  StepEvents step = augmented_batch();
  step.made[0].at = {95, 99};    // another clock puts it before the take
  step.made[1].at = {107, 109};  // the copy ends later
  step.compute = {125, 130};
  EXPECT_EQ(clamp_into_order(step, 100), 13 + 9 + 11 + 9);
  EXPECT_EQ(step.made[1].at, (Interval{118, 118, 0, 0}));
}

// A worker decodes a part of the batch, and the trainer comes later than the device.
TEST(DeviceWork, BooksTrainerThatIsLaterThanDevice) {
  StepEvents step;
  step.finished = 204;
  step.handed = 206;
  step.made = {task(Stage::gpu_decode, Lane::decode, {206, 208, 0, 1}, 208, 214),
               task(Stage::gpu_augment, Lane::work, {208, 209}, 214, 216)};
  step.made_count = 2;
  step.deliverable = 211;
  step.ask = 201;
  step.take = 221;
  step.take_queued = 8;
  step.launch = {221, 235};
  step.submitted = 235;
  Span decode;
  decode.begin = 196;
  decode.end = 204;
  decode.batch = 1;
  decode.stage = Stage::decode;
  const StepRow row = second_row(fold({0, 200}, step, 237, {decode}));
  EXPECT_EQ(row.idle(), 37);
  EXPECT_EQ(row.stall, stalls({{Cause::decode, 8},
                               {Cause::transport, 4},
                               {Cause::contention, 9},
                               {Cause::launch, 16}}));
  EXPECT_EQ(row.device, (DeviceProduction{4, 0, 1, 0}));
  EXPECT_EQ(row.why, whys({{Why::capacity, 9}}));
  EXPECT_EQ(row.made_end, 0);
}

// The trainer copies the batch, and launches the augmentation before the compute.
TEST(DeviceWork, FollowsTheTake) {
  StepEvents step;
  step.finished = 80;
  step.deliverable = 85;
  step.ask = 90;
  step.take = 102;
  step.copy = {103, 110};
  step.launch = {104, 120};
  step.submitted = 104;
  step.add_trainer_task(Stage::gpu_augment, {113, 125});
  ASSERT_FALSE(step.has_device_thread());
  const RankRecord rank = fold({10, 100}, step, 127);
  const StepRow row = second_row(rank);
  EXPECT_EQ(row.idle(), 27);
  EXPECT_EQ(row.stall, stalls({{Cause::transport, 2},
                               {Cause::launch, 1 + 3 + 2},
                               {Cause::h2d, 7},
                               {Cause::augment, 12}}));
  EXPECT_EQ(row.device, (DeviceProduction{0, 12, 0, 0}));
  EXPECT_EQ(row.why, whys({{Why::capacity, 12}}));
  EXPECT_EQ(row.made_end, 125);
  EXPECT_EQ(rank.critical_path->stall[Cause::augment], 12);
  EXPECT_EQ(rank.stages[Stage::gpu_augment].wall, 12);
}

TEST(DeviceWork, LengthensCriticalPath) {
  const RankRecord rank = fold({40, 100}, decoded_batch(), 147);
  ASSERT_TRUE(rank.critical_path.has_value());
  EXPECT_EQ(rank.critical_path->stall[Cause::decode], 30);
  EXPECT_EQ(rank.critical_path->stall[Cause::augment], 8);
}

TEST(DeviceWork, CountsAsStages) {
  StepEvents step = decoded_batch();
  step.made[1].submit.cpu = 1;
  step.copied_bytes = 500;
  step.delivered_bytes = 900;
  const RankRecord rank = fold({40, 100}, step, 147);
  EXPECT_EQ(rank.stages[Stage::gpu_decode].wall, 30);
  EXPECT_EQ(rank.stages[Stage::gpu_decode].cpu, 1);
  EXPECT_EQ(rank.stages[Stage::gpu_augment].wall, 8);
  EXPECT_EQ(rank.stages[Stage::h2d].wall, 12);
  EXPECT_EQ(rank.stages[Stage::h2d].bytes, 500);
  EXPECT_EQ(rank.stages[Stage::gpu_decode].bytes, 900);
}

// Two processes with one rank each. The second rank waits at 105 for the first, which begins to
// compute at 147.
TEST(DeviceWork, DelaysRanksOfOtherProcesses) {
  StepEvents fast;
  fast.finished = fast.deliverable = 95;
  fast.ask = fast.take = 100;
  RunRecord job;
  job.ranks.push_back(fold({40, 100}, decoded_batch(), 147));
  job.ranks.push_back(fold({40, 100}, fast, 147));
  job.hosts.resize(2);
  for (HostRecord& host : job.hosts) host.ranks = 1;
  StepRows rows;
  job.ranks[1].rows.for_each([&](StepRow row) {
    if (row.step == 1) row.waiting_for_ranks = 42;
    rows.push_back(row);
  });
  job.ranks[1].rows = std::move(rows);
  EXPECT_EQ(second_row(job.ranks[1]).stall, stalls({{Cause::launch, 47}}));
  book_process_waits(job);
  const StepRow row = second_row(job.ranks[1]);
  EXPECT_EQ(
      row.stall,
      stalls({{Cause::launch, 5 + 2}, {Cause::augment, 8}, {Cause::decode, 30}, {Cause::h2d, 2}}));
  EXPECT_EQ(row.device, (DeviceProduction{30, 8, 0, 0}));
  EXPECT_EQ(row.why, whys({{Why::capacity, 38}}));
}

}  // namespace
}  // namespace loaderscope
