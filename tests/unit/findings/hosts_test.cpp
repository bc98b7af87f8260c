// Jobs on several hosts: which of them the others wait for, and what all of them wait for alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/host_rates.h"
#include "loaderscope/predict.h"
#include "unit/known_answer/known_answer.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The ranks of a record, two to a host.
RunRecord on_hosts(RunRecord record) {
  for (std::int64_t host = 0; 2 * host < std::ssize(record.ranks); ++host) {
    HostRecord one;
    one.machine = record.machine;
    one.machine.host = "node" + std::to_string(host);
    one.ranks = std::min<std::int64_t>(2, std::ssize(record.ranks) - 2 * host);
    record.hosts.push_back(std::move(one));
  }
  return record;
}

RunRecord run_on_hosts(const std::string& settings) {
  return on_hosts(known_answer::run(settings));
}

std::string find_evidence(const RunRecord& record, std::string_view id) {
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  for (const Finding& finding : analysis.findings)
    if (finding.id == id) return finding.evidence;
  return "";
}

// A step takes 20 ms, and would take 10 ms without ranks 2 and 3; C = 4. The others wait for their
// own batch in 10 of the 16 idle ms of a step. All 16 ms are booked to node1, as in
// ranks_test.cpp.
constexpr const char* kSlowDecode =
    "ranks=6 sync-ranks=true workers=1 batch=1 cost=decode=10ms:sleep "
    "inject=decode=+10ms@rank=2 inject=decode=+10ms@rank=3 compute=4ms warmup=2 steps=30";

TEST(HostPaces, ReportsMeansOfRanks) {
  const RunRecord record = run_on_hosts(kSlowDecode);
  const std::vector<HostRate> hosts = host_rates(record, analyse(record));
  ASSERT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts[1].name, "node1");
  EXPECT_EQ(hosts[1].first_rank, 2u);
  EXPECT_EQ(hosts[1].account.waiting_for_ranks, 0);
  EXPECT_EQ(hosts[2].account.waiting_for_ranks, 480 * kMillisecond);
  EXPECT_EQ(hosts[0].account.window, 600 * kMillisecond);
  EXPECT_DOUBLE_EQ(hosts[0].samples_per_s, 100);
  EXPECT_DOUBLE_EQ(hosts[0].decode_of_sample, 10e6);
  EXPECT_DOUBLE_EQ(hosts[1].decode_of_sample, 20e6);
  EXPECT_DOUBLE_EQ(hosts[1].own_waits(), 0.8);
  EXPECT_DOUBLE_EQ(hosts[0].own_waits(), 0);
  EXPECT_EQ(limiting_host(hosts), 1u);
}

TEST(HostPaces, BlamesNoneOfTwoSlowHosts) {
  const std::string settings = std::string("ranks=8 ") + (kSlowDecode + sizeof("ranks=6")) +
                               " inject=decode=+10ms@rank=4 inject=decode=+10ms@rank=5";
  const RunRecord record = run_on_hosts(settings);
  EXPECT_EQ(limiting_host(host_rates(record, analyse(record))), std::nullopt);
  EXPECT_EQ(find_evidence(record, "straggler-host"), "");
  EXPECT_THAT(find_evidence(record, "straggler-rank"),
              HasSubstr("ranks 2, 3, 4 and 5 are the stragglers"));
}

// One more host, interrupted before any of its steps counted.
TEST(HostPaces, IgnoresHostWithoutMeasuredSteps) {
  RunRecord record = run_on_hosts(kSlowDecode);
  record.hosts.insert(record.hosts.begin(), record.hosts[0]);
  record.hosts[0].machine.host = "gone";
  for (int i = 0; i < 2; ++i)
    record.ranks.insert(record.ranks.begin(), make_rank_record(4, 0, usual_step));
  record.ranks[0].samples = record.ranks[1].samples = 0;
  std::vector<HostRate> hosts = host_rates(record, analyse(record));
  ASSERT_EQ(hosts.size(), 4u);
  EXPECT_FALSE(hosts[0].is_measured());
  EXPECT_EQ(slowest_first(hosts).back(), 0u);
  ASSERT_EQ(limiting_host(hosts), 2u);
  constexpr const char* kCause = "decoding takes 20.00 ms a sample, on the others 10.00 ms";
  EXPECT_THAT(host_slowness(hosts, 2), HasSubstr(kCause));
  hosts.pop_back();  // one other is left
  ASSERT_EQ(limiting_host(hosts), 2u);
  EXPECT_THAT(host_slowness(hosts, 2), HasSubstr(kCause));
  hosts.erase(hosts.begin() + 1);
  EXPECT_EQ(limiting_host(hosts), std::nullopt);
}

TEST(HostPaces, ReturnsNothingForOneHost) {
  EXPECT_TRUE(host_rates(usual_record(), analyse(usual_record())).empty());
}

TEST(HostPaces, DistinguishesHostsOfOneName) {
  RunRecord record = run_on_hosts(kSlowDecode);
  record.hosts[2].machine.host = "node1";
  record.hosts[0].machine.host.reset();
  const std::vector<HostRate> hosts = host_rates(record, analyse(record));
  EXPECT_EQ(hosts[0].name, "host 0");
  EXPECT_EQ(hosts[1].name, "node1 (host 1)");
  EXPECT_EQ(hosts[2].name, "node1 (host 2)");
}

TEST(HostFindings, NamesHostThatOthersWaitFor) {
  const RunRecord record = run_on_hosts(kSlowDecode);
  EXPECT_EQ(find_evidence(record, "straggler-host"),
            "node1 is the slowest: the others wait up to 80.0 % of the time for it, and it waits "
            "mostly for decode (80.0 %); decoding takes 20.00 ms a sample, on the others 10.00 ms");
  EXPECT_EQ(find_evidence(record, "straggler-rank"), "");
  EXPECT_EQ(find_evidence(record, "shared-storage"), "");
}

TEST(HostFindings, NamesNoStragglerIfHostsAreAlike) {
  const std::string alike =
      "ranks=6 sync-ranks=true workers=1 batch=1 cost=decode=lognormal:10ms:0.5:sleep compute=4ms "
      "warmup=2 steps=400";
  EXPECT_EQ(find_evidence(run_on_hosts(alike), "straggler-host"), "");
  EXPECT_EQ(find_evidence(known_answer::run(kSlowDecode), "straggler-host"), "");
}

TEST(HostFindings, BlamesHostForItsSlowReads) {
  const RunRecord record = run_on_hosts(
      "ranks=4 sync-ranks=true workers=1 batch=1 cost=read=5ms inject=read=+15ms@rank=2 "
      "inject=read=+15ms@rank=3 compute=4ms warmup=2 steps=60");
  EXPECT_THAT(
      find_evidence(record, "straggler-host"),
      HasSubstr("node1 is the slowest: the others wait up to 80.0 % of the time for it, and "
                "it waits mostly for read (80.0 %); reading takes 20.00 ms a sample, on "
                "the others 5.000 ms"));
  EXPECT_EQ(find_evidence(record, "shared-storage"), "");
}

TEST(HostFindings, ReportsFullSharedStorage) {
  const std::string shared =
      "ranks=4 sync-ranks=true workers=2 batch=4 stored-bytes=100000 compute=4ms warmup=4 "
      "steps=100 storage-bandwidth=";
  // 16 samples of 100 KB a step at 40 MB/s: 40 ms.
  EXPECT_THAT(find_evidence(run_on_hosts(shared + "40MB/s"), "shared-storage"),
              HasSubstr("all 2 hosts wait for reads (90.0 % of the time), which take as long "
                        "on each; together they read 40.0 MB/s, level within 0.0 %"));
  EXPECT_EQ(find_evidence(run_on_hosts(shared + "40MB/s"), "straggler-host"), "");
  EXPECT_EQ(find_evidence(run_on_hosts(shared + "4GB/s"), "shared-storage"), "");
}

// The last host at a full storage is slow because of the others.
TEST(HostFindings, IgnoresHostWithReadsAsSlowAsOthers) {
  const auto reading_for = [](Nanos first, Nanos other) {
    const auto step = [](std::int64_t) {
      return make_step_plan(25 * kMillisecond, {{Cause::read, 75 * kMillisecond}});
    };
    RunRecord record = make_run_record(4, 40, step);
    record.ranks.push_back(make_rank_record(4, 40, step));
    for (int i = 0; i < 2; ++i) {
      RankRecord rank = make_rank_record(4, 0, usual_step);
      add_changed_steps(rank, 40, step,
                        [](StepRow& row) { row.waiting_for_ranks = 70 * kMillisecond; });
      record.ranks.push_back(std::move(rank));
    }
    for (std::size_t i = 0; i < record.ranks.size(); ++i) {
      record.ranks[i].samples = 40;
      record.ranks[i].stages[Stage::read] = {};
      for (int n = 0; n < 40; ++n)
        record.ranks[i].stages[Stage::read].add(i < 2 ? first : other, 0, 0, 0);
    }
    return on_hosts(std::move(record));
  };
  EXPECT_EQ(find_evidence(reading_for(20 * kMillisecond, 19 * kMillisecond), "straggler-host"), "");
  EXPECT_EQ(find_evidence(reading_for(20 * kMillisecond, 19 * kMillisecond), "straggler-rank"), "");
  EXPECT_THAT(find_evidence(reading_for(20 * kMillisecond, 5 * kMillisecond), "straggler-host"),
              HasSubstr("reading takes 20.00 ms a sample, on the others 5.000 ms"));
}

// 40 steps of 100 ms: a host that waits 30 ms for a core, and one that waits as long for it.
TEST(HostFindings, ReportsFewerCoresOfSlowHost) {
  RunRecord record = make_run_record(4, 40, [](std::int64_t) {
    return make_step_plan(25 * kMillisecond, {{Cause::contention, 30 * kMillisecond},
                                              {Cause::decode, 45 * kMillisecond}});
  });
  record.ranks.push_back(make_rank_record(4, 40, [](std::int64_t) {
    return make_step_plan(25 * kMillisecond, {{Cause::contention, 30 * kMillisecond},
                                              {Cause::decode, 45 * kMillisecond}});
  }));
  for (int i = 0; i < 4; ++i) {
    RankRecord rank = make_rank_record(4, 0, usual_step);
    add_changed_steps(rank, 40, usual_step,
                      [](StepRow& row) { row.waiting_for_ranks = 30 * kMillisecond; });
    rank.samples = record.ranks[0].samples;
    record.ranks.push_back(std::move(rank));
  }
  record = on_hosts(std::move(record));
  for (HostRecord& host : record.hosts) host.machine.cores = 8;
  record.hosts[0].machine.cores = 2;
  record.hosts[0].metrics = {{"host.throttled_s", "s", "", 1}};
  EXPECT_EQ(
      find_evidence(record, "straggler-host"),
      "node0 is the slowest: the others wait up to 30.0 % of the time for it, and its threads "
      "wait for a core 30.0 % of the time, those of the others 0.0 % (2 cores, the others 8 "
      "cores), and its CPU quota stopped it 25.0 %");
}

// More cores shorten neither reads nor the wait for other hosts.
TEST(HostFindings, BlamesCoresOnlyForWorkThatUsesThem) {
  RunRecord reads = run_on_hosts(
      "ranks=4 sync-ranks=true workers=1 batch=1 cost=read=5ms inject=read=+15ms@rank=2 "
      "inject=read=+15ms@rank=3 compute=4ms warmup=2 steps=60");
  RunRecord decodes = run_on_hosts(kSlowDecode);
  for (RunRecord* record : {&reads, &decodes})
    for (HostRecord& host : record->hosts) host.machine.cores = 16;
  reads.hosts[1].machine.cores = decodes.hosts[1].machine.cores = 8;
  const auto place = [](const RunRecord& record) {
    return where_to_look(host_rates(record, analyse(record)), 1);
  };
  EXPECT_THAT(find_evidence(reads, "straggler-host"),
              HasSubstr("it waits mostly for read (80.0 %); reading takes 20.00 ms a sample, on "
                        "the others 5.000 ms"));
  EXPECT_EQ(place(reads), "the way from node1 to its storage: its disk, its network link");
  // No thread waits for one: how it is known is what decoding takes.
  EXPECT_THAT(find_evidence(decodes, "straggler-host"),
              HasSubstr("it waits mostly for decode (80.0 %), with fewer cores (8 cores, the "
                        "others 16 cores); decoding takes 20.00 ms a sample, on the others 10.00 "
                        "ms"));
  EXPECT_THAT(place(decodes), HasSubstr("what takes the cores of node1"));
  // A quota that stops it holds up its reads, too.
  reads.hosts[1].metrics = {{"host.throttled_s", "s", "", 0.5}};
  EXPECT_THAT(find_evidence(reads, "straggler-host"),
              AllOf(HasSubstr("it waits mostly for read (80.0 %), with fewer cores (8 cores, the "
                              "others 16 cores), and its CPU quota stopped it "),
                    HasSubstr("; reading takes 20.00 ms a sample, on the others 5.000 ms")));
}

// The trainer asks late for what is ready, as it does not know yet that its step is over.
TEST(HostFindings, ReportsLateNotificationsFromOthers) {
  RunRecord record = run_on_hosts(
      "ranks=4 sync-ranks=true workers=1 batch=1 cost=read=1ms cost=launch=2ms "
      "inject=launch=+14ms@rank=2 inject=launch=+14ms@rank=3 compute=4ms warmup=2 steps=60");
  EXPECT_THAT(find_evidence(record, "straggler-host"), HasSubstr("it waits mostly for launch ("));
  EXPECT_NE(find_evidence(record, "slow-trainer") + find_evidence(record, "per-batch-overhead"),
            "");
  record.hosts[1].metrics.push_back({"rendezvous.notification_delay_s", "s", "", 0.9});
  EXPECT_THAT(find_evidence(record, "straggler-host"),
              HasSubstr("it waits mostly for notifications from the others (75.0 %)"));
  EXPECT_EQ(find_evidence(record, "slow-trainer"), "");
  EXPECT_EQ(find_evidence(record, "per-batch-overhead"), "");
  EXPECT_THAT(
      analyse(record).verdict.sentence,
      AllOf(HasSubstr("for notifications from other processes"),
            HasSubstr(": notifications from other hosts arrive late"), Not(HasSubstr("launch"))));
}

// A batch takes 14 ms to be made, and 9 of launching lie within them: without those a step is no
// shorter.
TEST(HostFindings, DistinguishesHiddenNotificationsFromLaunching) {
  RunRecord record = run_on_hosts(
      "ranks=4 sync-ranks=true workers=1 batch=1 cost=decode=14ms:sleep cost=launch=9ms:sleep "
      "compute=4ms warmup=2 steps=60");
  EXPECT_THAT(analyse(record).verdict.sentence, HasSubstr("; launch 64.3 %, but without it"));
  record.hosts[1].metrics.push_back({"rendezvous.notification_delay_s", "s", "", 0.5});
  EXPECT_THAT(analyse(record).verdict.sentence,
              AllOf(HasSubstr("; notifications from other processes 64.3 %, but without it"),
                    Not(HasSubstr("launch"))));
}

}  // namespace
}  // namespace loaderscope
