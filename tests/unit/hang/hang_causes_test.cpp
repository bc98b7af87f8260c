// Causes of hangs, from made facts: each known cause by its name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "hang/hang_report.h"
#include "unit/hang/made_hang.h"

namespace loaderscope::hang {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const PythonThread kFeeder =
    made_thread({{"/usr/lib/python3.11/threading.py", 320, "wait"},
                 {"/usr/lib/python3.11/multiprocessing/queues.py", 231, "_feed"}});
const PythonThread kPins =
    made_thread({{"/v/lib/python3.11/site-packages/torch/utils/data/_utils/pin_memory.py", 30,
                  "_pin_memory_loop"}});
const PythonThread kOwn = made_thread({{"/data/user.py", 12, "refresh"}});

std::string name_of_reason(const HangFacts& facts) {
  const auto reason = find_cause(facts);
  return reason ? std::string(reason->name) : "";
}

WorkerFacts& batch_maker(HangFacts& facts) { return facts.ranks[0].workers[1]; }

struct Case {
  const char* name;
  std::function<void(HangFacts&)> change;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"dead-worker", [](HangFacts& f) { batch_maker(f).has_ended = true; }},
      {"stopped-process", [](HangFacts& f) { batch_maker(f).is_stopped = true; }},
      {"descriptors-gone",
       [](HangFacts& f) { f.ranks[0].open_files = 1020, f.ranks[0].most_files = 1024; }},
      {"shm-full", [](HangFacts& f) { f.shared_free = 4096; }},
      {"unequal-ranks",
       [](HangFacts& f) {
         f.ranks[0].asking_for = 0;
         f.ranks.push_back(made_rank(1));
         f.ranks[1].current = {};
         f.ranks[1].finished = {0, 0, 11};
       }},
      {"pin-thread-and-fork",
       [](HangFacts& f) {
         f.ranks[0].threads = {kOwn, kPins};
       }},
      {"lock-held-at-fork", [](HangFacts&) {}},
      {"shared-lock",
       [](HangFacts& f) {
         batch_maker(f).call = {"futex", CallKind::locks_shared, "", false};
       }},
      {"file-lock",
       [](HangFacts& f) {
         batch_maker(f).call = {"flock", CallKind::locks_file, "/i.lock", false};
       }},
      {"no-answer",
       [](HangFacts& f) {
         batch_maker(f).call = {"read", CallKind::reads, "/x.jpg", false};
       }},
  };
  return kCases;
}

TEST(HangReasons, NamesEachCauseByItsFacts) {
  for (const Case& one : cases()) {
    HangFacts facts = made_hang();
    one.change(facts);
    EXPECT_EQ(name_of_reason(facts), one.name);
  }
}

TEST(HangReasons, GivesAdviceForEachCause) {
  std::set<std::string_view> named;
  for (const Case& one : cases()) {
    HangFacts facts = made_hang();
    one.change(facts);
    named.insert(one.name);
    EXPECT_FALSE(find_cause(facts)->words.advice.empty()) << one.name;
  }
  for (const HangCause& reason : hang_causes())
    EXPECT_TRUE(named.contains(reason.name)) << reason.name;
}

TEST(HangReasons, BlamesForkOnlyForLocksThatStayHeld) {
  const std::vector<std::function<void(HangFacts&)>> others = {
      [](HangFacts& f) { f.ranks[0].loader.mp_context = "spawn"; },
      [](HangFacts& f) { batch_maker(f).threads.push_back(kOwn); },
      [](HangFacts& f) { batch_maker(f).waits_for_interpreter = true; },
      [](HangFacts& f) { batch_maker(f).threads.clear(); },
  };
  for (const auto& change : others) {
    HangFacts facts = made_hang();
    change(facts);
    EXPECT_EQ(name_of_reason(facts), "");
  }
  HangFacts facts = made_hang();
  batch_maker(facts).threads.push_back(kFeeder);
  batch_maker(facts).threads.emplace_back();  // ours, which runs no Python
  EXPECT_EQ(name_of_reason(facts), "lock-held-at-fork");
}

// The loader starts its own pin thread after its workers.
TEST(HangReasons, IgnoresLoadersOwnPinThread) {
  HangFacts facts = made_hang();
  facts.ranks[0].threads = {kOwn, kPins};
  facts.ranks[0].loader.pin_memory = true;
  EXPECT_EQ(name_of_reason(facts), "lock-held-at-fork");
}

TEST(HangReasons, AcceptsRanksInDifferentEpochs) {
  HangFacts facts = made_hang();
  facts.ranks[0].asking_for = 0;
  facts.ranks.push_back(made_rank(1));
  facts.ranks[1].finished = {0, 1, 11};
  EXPECT_NE(name_of_reason(facts), "unequal-ranks");
}

// Processes of one machine that are not ranks.
TEST(HangReasons, IgnoresProcessesThatAreNotRanks) {
  HangFacts facts = made_hang();
  facts.ranks.push_back(made_rank(-1));
  facts.ranks[1].finished = {0, 0, 11};
  EXPECT_EQ(rank_without_batches(facts, facts.ranks[0]), nullptr);
}

TEST(HangReport, PutsAnswerInFirstLine) {
  const HangReport report = make_report(made_hang());
  EXPECT_EQ(report.answer,
            "standing for 12 s: rank 0 (process 100) waits for batch 13 of worker 1 (process 201), "
            "which waits for a lock or another thread, at /data/user.py:34 in __getitem__ (sample "
            "471)");
  EXPECT_THAT(report.lines(), ElementsAre(report.answer, "  worker 0: idle: batches are ready",
                                          HasSubstr("  Cause: lock-held-at-fork: worker 1 waits"),
                                          HasSubstr("  Do: DataLoader(")));
}

// A busy process may be reading a large sample.
TEST(HangReport, ClaimsNoCauseForBusyProcess) {
  HangFacts facts = made_hang();
  facts.is_busy = true;
  const HangReport report = make_report(facts);
  EXPECT_THAT(report.answer, HasSubstr("no batch for 12 s: rank 0 (process 100) waits for batch"));
  EXPECT_EQ(report.cause, "");
}

TEST(HangReport, GroupsWorkersInSameState) {
  HangFacts facts = made_hang();
  for (std::int32_t number = 2; number < 20; ++number)
    facts.ranks[0].workers.push_back(made_worker(number));
  const HangReport report = make_report(facts);
  ASSERT_GE(report.others.size(), 2U);
  EXPECT_EQ(report.others[1], "workers 2, 3, 4, 5, 6, 7, 8, 9 and 10 more: idle: no task");
}

TEST(HangReport, BlamesTrainerForSentBatch) {
  HangFacts facts = made_hang();
  facts.ranks[0].awaited[0].finished = facts.ranks[0].awaited[0].sent = true;
  facts.ranks[0].call = {"recvmsg", CallKind::reads, "", true};
  EXPECT_THAT(make_report(facts).answer,
              HasSubstr("which worker 1 (process 201) has sent: it takes it in and waits in "
                        "recvmsg() of a socket"));
}

TEST(HangReport, EscapesNamesOfFiles) {
  HangFacts facts = made_hang();
  batch_maker(facts).call = {"read", CallKind::reads, "/a\033[2J", false};
  const HangReport report = make_report(facts);
  EXPECT_EQ(report.answer.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace loaderscope::hang
