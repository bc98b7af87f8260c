// Records of hosts as one: what is kept, what is added up, and what is refused.
#include "record/merge_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loaderscope/analysis.h"
#include "loaderscope/errors.h"
#include "settings/join_settings.h"
#include "unit/known_answer/known_answer.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

RunRecord host_part(const std::string& name, std::int64_t ranks, Nanos first_ask = kFirstAsk) {
  RunRecord record = usual_record();
  record.machine.host = name;
  while (std::ssize(record.ranks) < ranks)
    record.ranks.push_back(make_rank_record(4, 40, usual_step));
  for (RankRecord& rank : record.ranks) rank.first_ask = first_ask;
  record.config.trainer.ranks.value = ranks;
  return record;
}

RunRecord merged(std::vector<RunRecord> parts) {
  RecordMerge merge(join_settings);
  for (std::size_t i = 0; i < parts.size(); ++i)
    merge.add(std::move(parts[i]), "node" + std::to_string(i) + ".json");
  return merge.take();
}

template <class... Records>
RunRecord merge_all(Records... records) {
  std::vector<RunRecord> parts;
  (parts.push_back(std::move(records)), ...);
  return merged(std::move(parts));
}

std::string refusal(RunRecord one, RunRecord other) {
  try {
    merge_all(std::move(one), std::move(other));
  } catch (const RunError& error) {
    return error.what();
  }
  return "it is not refused";
}

HostRecord process_with(double others, double cpu_s, double resident) {
  HostRecord process;
  process.metrics = {make_metric("process.cpu_s", "", cpu_s),
                     make_metric("host.other_cpu_s", "", others),
                     {"host.steal_s", "s", "", 2},
                     make_metric("memory.resident_bytes", "", resident),
                     {"memory.batch_bytes", "bytes", "", 100},
                     make_metric("process.threads", "", 7)};
  return process;
}

TEST(MetricsOfProcesses, AddsUpProcessesAndExcludesSiblings) {
  // The machine was busy for 10 s: 4 of one, 3 of the other, 3 of strangers.
  const auto metrics = metrics_of_processes({process_with(6, 4, 1000), process_with(7, 3, 500)});
  EXPECT_DOUBLE_EQ(*value_of(metrics, "host.other_cpu_s"), 3);
  EXPECT_DOUBLE_EQ(*value_of(metrics, "process.cpu_s"), 7);
  EXPECT_DOUBLE_EQ(*value_of(metrics, "host.steal_s"), 2);
  EXPECT_DOUBLE_EQ(*value_of(metrics, "memory.resident_bytes"), 1500);
  EXPECT_DOUBLE_EQ(*value_of(metrics, "memory.batch_bytes"), 100);
  EXPECT_DOUBLE_EQ(*value_of(metrics, "process.threads"), 14);
  const auto alone = metrics_of_processes({process_with(4, 4, 1), process_with(3, 4, 1)});
  EXPECT_EQ(*value_of(alone, "host.other_cpu_s"), 0);  // counters were read at different times
}

TEST(MetricsOfProcesses, AddsOthersAndAveragesSizesOfHosts) {
  const auto metrics = metrics_of_hosts({process_with(6, 4, 1000), process_with(7, 3, 500)});
  EXPECT_DOUBLE_EQ(*value_of(metrics, "host.other_cpu_s"), 13);
  EXPECT_DOUBLE_EQ(*value_of(metrics, "memory.resident_bytes"), 750);
}

TEST(RecordMergeOfAMeeting, IgnoresTimesOfParts) {
  RecordMerge merge(join_settings, true);
  merge.add(host_part("node", 1), "process 0");
  RunRecord later = host_part("node", 1);
  for (RankRecord& rank : later.ranks) rank.first_ask = rank.window_end + kSecond;
  for (RankRecord& rank : later.ranks) rank.window_end = rank.first_ask + kSecond;
  merge.add(std::move(later), "process 1");
  EXPECT_EQ(merge.hosts(), 2);
}

// --- exact ---

// Splits the ranks of a run over `hosts` hosts, each with its own record.
std::vector<RunRecord> cut(RunRecord whole, std::int64_t hosts) {
  const std::int64_t each = std::ssize(whole.ranks) / hosts;
  std::vector<RunRecord> parts;
  for (std::int64_t host = 0; host < hosts; ++host) {
    RunRecord part;
    part.engine = whole.engine;
    part.simulated = whole.simulated;
    part.tool_version = whole.tool_version;
    part.config = whole.config;
    part.config.trainer.ranks.value = each;
    part.machine.host = "node" + std::to_string(host);
    for (std::int64_t rank = 0; rank < each; ++rank)
      part.ranks.push_back(std::move(whole.ranks[static_cast<std::size_t>(host * each + rank)]));
    parts.push_back(std::move(part));
  }
  return parts;
}

bool operator==(const Account& a, const Account& b) {
  return a.window == b.window && a.compute == b.compute && a.stall == b.stall && a.why == b.why &&
         a.waiting_for_ranks == b.waiting_for_ranks && a.order == b.order &&
         a.launching == b.launching && a.not_asking == b.not_asking;
}

class ModelCut : public testing::TestWithParam<std::int64_t> {};

TEST_P(ModelCut, MergesToWholeRun) {
  const std::string settings =
      "ranks=8 sync-ranks=true workers=2 batch=4 cost=read=lognormal:3ms:0.6:sleep "
      "cost=decode=lognormal:4ms:0.4 inject=decode=+9ms@rank=5 compute=8ms warmup=4 steps=60";
  const RunRecord whole = known_answer::run(settings);
  const RunRecord job = merged(cut(known_answer::run(settings), GetParam()));
  const Analysis one = analyse(whole), joined = analyse(job);
  ASSERT_EQ(job.ranks.size(), whole.ranks.size());
  EXPECT_EQ(std::ssize(job.hosts), GetParam());
  EXPECT_TRUE(joined.account == one.account);
  for (std::size_t rank = 0; rank < whole.ranks.size(); ++rank)
    EXPECT_TRUE(joined.rank_accounts[rank] == one.rank_accounts[rank]) << rank;
  EXPECT_EQ(joined.samples_per_s.mean, one.samples_per_s.mean);
  EXPECT_EQ(joined.samples_per_s.low, one.samples_per_s.low);
  EXPECT_EQ(joined.busy.mean, one.busy.mean);
  EXPECT_EQ(joined.verdict.bound_by, one.verdict.bound_by);
  EXPECT_EQ(joined.step_time.quantile(0.99), one.step_time.quantile(0.99));
  EXPECT_EQ(job.config.trainer.ranks.value, 8);
}
INSTANTIATE_TEST_SUITE_P(Hosts, ModelCut, testing::Values(1, 2, 4, 8));

TEST(MergeRecords, MergesTreeLikeFlatList) {
  const auto leaf = [](int i) { return host_part("node" + std::to_string(i), 2, kFirstAsk + i); };
  const RunRecord flat = merge_all(leaf(0), leaf(1), leaf(2), leaf(3));
  const RunRecord tree = merge_all(merge_all(leaf(0), leaf(1)), merge_all(leaf(2), leaf(3)));
  ASSERT_EQ(tree.ranks.size(), flat.ranks.size());
  for (std::size_t rank = 0; rank < flat.ranks.size(); ++rank)
    EXPECT_EQ(tree.ranks[rank].first_ask, flat.ranks[rank].first_ask);
  ASSERT_EQ(tree.hosts.size(), flat.hosts.size());
  for (std::size_t host = 0; host < flat.hosts.size(); ++host) {
    EXPECT_EQ(tree.hosts[host].machine.host, flat.hosts[host].machine.host);
    EXPECT_EQ(tree.hosts[host].ranks, 2);
  }
}

// --- sums ---

TEST(MergeRecords, KeepsMachinesAndMetricsOfHosts) {
  RunRecord a = host_part("a", 2), b = host_part("b", 1);
  a.metrics = {make_metric("process.cpu_s", "", 30), {"gil.worker_wait_share", "1", "", 0.2}};
  b.metrics = {make_metric("process.cpu_s", "", 10),
               {"gil.worker_wait_share", "1", "", 0.4},
               {"memory.growth_bytes_per_s", "bytes/s", "", std::nan("")}};
  const RunRecord job = merge_all(std::move(a), std::move(b));
  EXPECT_EQ(job.hosts[0].ranks, 2);
  EXPECT_EQ(job.hosts[1].machine.host, "b");
  EXPECT_EQ(value_of(job.hosts[1].metrics, "process.cpu_s"), 10);
  EXPECT_EQ(value_of(job.metrics, "process.cpu_s"), 40);
  EXPECT_DOUBLE_EQ(value_of(job.metrics, "gil.worker_wait_share").value(), 0.3);
  EXPECT_FALSE(value_of(job.metrics, "memory.growth_bytes_per_s"));
  EXPECT_FALSE(job.hosts[0].has_clock());
}

// Two groups of hosts from two rendezvous. The clocks of their first hosts were never compared.
TEST(MergeRecords, DropsClocksThatWereComparedWithinParts) {
  const auto with_clocks = [](RunRecord part) {
    for (HostRecord& host : part.hosts) host.clock_offset = host.clock_error = 0;
    return part;
  };
  const RunRecord job = merge_all(with_clocks(merge_all(host_part("a", 1), host_part("b", 1))),
                                  with_clocks(merge_all(host_part("c", 1), host_part("d", 1))));
  ASSERT_EQ(job.hosts.size(), 4u);
  for (const HostRecord& host : job.hosts) EXPECT_FALSE(host.has_clock());
  // One part alone keeps them, as do those that have met.
  EXPECT_TRUE(
      merge_all(with_clocks(merge_all(host_part("a", 1), host_part("b", 1)))).hosts[1].has_clock());
  RecordMerge met(join_settings, true);
  met.add(with_clocks(merge_all(host_part("a", 1), host_part("b", 1))), "process 0");
  met.add(with_clocks(merge_all(host_part("c", 1), host_part("d", 1))), "process 1");
  for (const HostRecord& host : met.take().hosts) EXPECT_TRUE(host.has_clock());
}

TEST(MergeRecords, DropsFingerprintThatHostsDoNotShare) {
  RunRecord a = host_part("a", 1), b = host_part("b", 1), c = host_part("c", 1);
  a.metrics = b.metrics = c.metrics = {{"data.fingerprint", "1", "", 7, false, MetricJoin::same}};
  EXPECT_EQ(value_of(merge_all(host_part("x", 1), std::move(a)).metrics, "data.fingerprint"),
            std::nullopt);
  b.metrics.front().value = 9;
  EXPECT_EQ(value_of(merge_all(std::move(b), std::move(c)).metrics, "data.fingerprint"),
            std::nullopt);
}

TEST(MergeRecords, AddsSkippedSamplesAndKeepsNotesOnce) {
  RunRecord a = host_part("a", 1), b = host_part("b", 1);
  a.skipped = {3, {{"truncated", 3}}, std::vector<std::string>(8, "x")};
  b.skipped = {5, {{"truncated", 1}, {"damaged", 4}}, std::vector<std::string>(8, "y")};
  a.notes = {"alike", "of a"};
  b.notes = {"of b", "alike"};
  b.interrupted = true;
  b.lost_spans = 2;
  const RunRecord job = merge_all(std::move(a), std::move(b));
  EXPECT_EQ(job.skipped.samples, 8);
  EXPECT_EQ(job.skipped.kind_counts.at("truncated"), 4);
  EXPECT_EQ(job.skipped.first.size(), 10u);
  EXPECT_THAT(job.notes, ElementsAre("alike", "of a", "of b"));
  EXPECT_TRUE(job.interrupted);
  EXPECT_EQ(job.lost_spans, 2);
  EXPECT_EQ(job.hosts[0].ended_early, "");
  EXPECT_EQ(job.hosts[1].ended_early, "interrupted");
}

TEST(MergeRecords, KeepsFewSamplesAndWorstStepsOfManyRanks) {
  std::vector<RunRecord> parts;
  for (int i = 0; i < 60; ++i) {
    RunRecord part = host_part("node" + std::to_string(i), 1, kFirstAsk + i);
    RankRecord& rank = part.ranks.front();
    for (int sample = 0; sample < 20'000; ++sample) {
      SampleRow row;
      row.sample = sample;
      rank.reservoir.push_back(row);
    }
    for (int step = 0; step < 100; ++step) {
      Exemplar exemplar;
      exemplar.events.step = exemplar.row.step = step;
      exemplar.row.compute_begin = step * kMillisecond;
      exemplar.worst = step % 10 == 3;
      rank.exemplars.push_back(std::move(exemplar));
    }
    parts.push_back(std::move(part));
  }
  const RunRecord job = merged(std::move(parts));
  std::int64_t samples = 0, high = 0;
  for (const RankRecord& rank : job.ranks) {
    samples += std::ssize(rank.reservoir);
    for (const SampleRow& row : rank.reservoir) high += row.sample >= 10'000 ? 1 : 0;
  }
  EXPECT_LE(samples, 400'000);
  EXPECT_GT(samples, 300'000);
  EXPECT_NEAR(static_cast<double>(high) / static_cast<double>(samples), 0.5, 0.01);
  EXPECT_EQ(job.ranks.front().exemplars.size(), 100u);
  const std::vector<Exemplar>& last = job.ranks.back().exemplars;
  ASSERT_EQ(last.size(), 33u);
  EXPECT_TRUE(last.front().worst);
  EXPECT_EQ(last.front().row.step, 3);
  EXPECT_EQ(last.back().row.step, 99);
}

// --- rejected records ---

TEST(MergeRecords, IgnoresPartThatCannotBeAdded) {
  RecordMerge merge(join_settings);
  RunRecord first = host_part("a", 2);
  first.lost_spans = 1;
  merge.add(std::move(first), "a.json");
  RunRecord other = host_part("b", 3);
  other.skipped.samples = 5;
  other.notes = {"of b"};
  other.interrupted = true;
  other.lost_spans = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(merge.add(std::move(other), "b.json"), RunError);
  merge.add(host_part("c", 1), "c.json");
  const RunRecord job = merge.take();
  ASSERT_EQ(job.hosts.size(), 2u);
  EXPECT_EQ(job.hosts[1].machine.host, "c");
  EXPECT_EQ(job.ranks.size(), 3u);
  EXPECT_EQ(job.config.trainer.ranks.value, 3);
  EXPECT_EQ(job.lost_spans, 1);
  EXPECT_EQ(job.skipped.samples, 0);
  EXPECT_FALSE(job.interrupted);
  EXPECT_THAT(job.notes, testing::Not(testing::Contains("of b")));
}

TEST(MergeRecords, RefusesAnotherVersionEngineOrTime) {
  RunRecord other = host_part("b", 1);
  other.tool_version = "0.0.9";
  EXPECT_THAT(
      refusal(host_part("a", 1), std::move(other)),
      HasSubstr("node1.json: the version of loaderscope is 0.0.9, and 0.1.0 in node0.json"));
  other = host_part("b", 1);
  other.engine = "native";
  EXPECT_THAT(refusal(host_part("a", 1), std::move(other)), HasSubstr("the engine is native"));
  other = host_part("b", 1);
  other.simulated = false;
  EXPECT_THAT(refusal(host_part("a", 1), std::move(other)), HasSubstr("is real, and simulated in"));
  EXPECT_THAT(refusal(host_part("a", 1), RunRecord{}), HasSubstr("node1.json: holds no rank"));
}

TEST(MergeRecords, RefusesTheFirstSettingThatDiffers) {
  RunRecord other = host_part("b", 1);
  other.config.loader.num_workers.set(3);
  other.config.loader.prefetch_factor.set(9);
  EXPECT_THAT(refusal(host_part("a", 1), std::move(other)),
              HasSubstr("node1.json: num-workers is 3, and 2 on the first host"));
}

TEST(MergeRecords, AcceptsOwnSettingsOfHosts) {
  RunRecord a = host_part("a", 1), b = host_part("b", 3);
  b.config.answer.json.set("node1.json");
  b.config.declared.cores.value = 2;
  b.config.program.command.set({"torchrun", "--node-rank", "1"});
  EXPECT_EQ(merge_all(std::move(a), std::move(b)).config.trainer.ranks.value, 4);
}

TEST(MergeRecords, ReportsDerivedSettingsThatDiffer) {
  RunRecord a = host_part("a", 1), b = host_part("b", 1), c = host_part("c", 1);
  for (RunRecord* part : {&a, &b, &c}) part->config.loader.num_workers = Setting<std::int64_t>(8);
  b.config.loader.num_workers.value = 2;
  c.config.loader.num_workers.value = 2;
  EXPECT_THAT(merge_all(std::move(a), std::move(b), std::move(c)).notes,
              ElementsAre("num-workers was not given, and is not on all hosts 8 as on the first"));
}

TEST(MergeRecords, AddsSamplesOfProgramsAndComparesSettings) {
  RunRecord a = host_part("a", 1), b = host_part("b", 1);
  for (RunRecord* part : {&a, &b}) {
    part->engine = "torch";
    part->config.trainer.compute.given = part->config.loader.num_workers.given = false;
  }
  a.config.data.samples.value = 50;
  b.config.data.samples.value = 70;
  b.config.trainer.compute.value.mean = 26e6;
  const RunRecord job = merge_all(std::move(a), std::move(b));
  EXPECT_EQ(job.ranks.size(), 2u);
  EXPECT_EQ(job.config.data.samples.value, 120);
  a = host_part("a", 1), b = host_part("b", 1);
  for (RunRecord* part : {&a, &b}) {
    part->engine = "torch";
    part->config.loader.num_workers = Setting<std::int64_t>(8);
  }
  b.config.loader.num_workers.value = 4;
  EXPECT_THAT(refusal(std::move(a), std::move(b)), HasSubstr("num-workers is 4, and 8"));
}

TEST(MergeRecords, RefusesTheSameHostsRecordTwice) {
  EXPECT_THAT(refusal(host_part("a", 2), host_part("a", 2)),
              HasSubstr("node1.json: holds what node0.json holds; give each host's record once"));
  EXPECT_THAT(refusal(merge_all(host_part("a", 1), host_part("b", 1)), host_part("b", 1)),
              HasSubstr("holds what node0.json holds"));
}

TEST(MergeRecords, RefusesRunsOfOneHostAtOtherTimes) {
  RunRecord later = host_part("a", 1);
  for (Nanos* time :
       {&later.ranks[0].first_ask, &later.ranks[0].window_begin, &later.ranks[0].window_end})
    *time += kSecond * 3600;
  EXPECT_THAT(refusal(host_part("a", 1), std::move(later)),
              HasSubstr("node1.json: ran on a at another time than node0.json did"));
  // Two of one job on one host, as in two containers.
  EXPECT_EQ(merge_all(host_part("a", 1), host_part("a", 1, kFirstAsk + 7)).hosts.size(), 2u);
}

TEST(MergeRecords, IgnoresRejectedPart) {
  RecordMerge merge(join_settings);
  merge.add(host_part("a", 1), "a.json");
  EXPECT_THROW(merge.add(host_part("a", 1), "a2.json"), RunError);
  merge.add(host_part("b", 1), "b.json");
  EXPECT_EQ(merge.hosts(), 2);
  EXPECT_EQ(merge.take().ranks.size(), 2u);
}

}  // namespace
}  // namespace loaderscope
