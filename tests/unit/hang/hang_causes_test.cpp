// Why loaders hang, from made facts: each known reason by its name.
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
  const auto reason = cause_of(facts);
  return reason ? std::string(reason->name) : "";
}

WorkerFacts& maker_of(HangFacts& facts) { return facts.ranks[0].workers[1]; }

struct Case {
  const char* name;
  std::function<void(HangFacts&)> change;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"dead-worker", [](HangFacts& f) { maker_of(f).has_ended = true; }},
      {"stopped-process", [](HangFacts& f) { maker_of(f).is_stopped = true; }},
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
         maker_of(f).call = {"futex", CallKind::locks_shared, "", false};
       }},
      {"file-lock",
       [](HangFacts& f) {
         maker_of(f).call = {"flock", CallKind::locks_file, "/i.lock", false};
       }},
      {"no-answer",
       [](HangFacts& f) {
         maker_of(f).call = {"read", CallKind::reads, "/x.jpg", false};
       }},
  };
  return kCases;
}

TEST(HangReasons, EachIsNamedByWhatTellsIt) {
  for (const Case& one : cases()) {
    HangFacts facts = made_hang();
    one.change(facts);
    EXPECT_EQ(name_of_reason(facts), one.name);
  }
}

TEST(HangReasons, EachIsTestedAndSaysWhatToDo) {
  std::set<std::string_view> named;
  for (const Case& one : cases()) {
    HangFacts facts = made_hang();
    one.change(facts);
    named.insert(one.name);
    EXPECT_FALSE(cause_of(facts)->words.advice.empty()) << one.name;
  }
  for (const HangCause& reason : hang_causes())
    EXPECT_TRUE(named.contains(reason.name)) << reason.name;
}

TEST(HangReasons, ALockThatSomebodyMayLetGoOfIsNotAForks) {
  const std::vector<std::function<void(HangFacts&)>> others = {
      [](HangFacts& f) { f.ranks[0].loader.mp_context = "spawn"; },
      [](HangFacts& f) { maker_of(f).threads.push_back(kOwn); },
      [](HangFacts& f) { maker_of(f).waits_for_interpreter = true; },
      [](HangFacts& f) { maker_of(f).threads.clear(); },
  };
  for (const auto& change : others) {
    HangFacts facts = made_hang();
    change(facts);
    EXPECT_EQ(name_of_reason(facts), "");
  }
  HangFacts facts = made_hang();
  maker_of(facts).threads.push_back(kFeeder);
  maker_of(facts).threads.emplace_back();  // ours, which runs no Python
  EXPECT_EQ(name_of_reason(facts), "lock-held-at-fork");
}

// Its own is started behind its workers.
TEST(HangReasons, TheLoadersOwnPinThreadIsNoReason) {
  HangFacts facts = made_hang();
  facts.ranks[0].threads = {kOwn, kPins};
  facts.ranks[0].loader.pin_memory = true;
  EXPECT_EQ(name_of_reason(facts), "lock-held-at-fork");
}

TEST(HangReasons, RanksInDifferentEpochsAreNotUnequal) {
  HangFacts facts = made_hang();
  facts.ranks[0].asking_for = 0;
  facts.ranks.push_back(made_rank(1));
  facts.ranks[1].finished = {0, 1, 11};
  EXPECT_NE(name_of_reason(facts), "unequal-ranks");
}

// Processes beside each other that are no ranks.
TEST(HangReasons, WhatIsNoRankWaitsForNone) {
  HangFacts facts = made_hang();
  facts.ranks.push_back(made_rank(-1));
  facts.ranks[1].finished = {0, 0, 11};
  EXPECT_EQ(rank_without_batches(facts, facts.ranks[0]), nullptr);
}

TEST(HangReport, TheFirstLineIsTheAnswer) {
  const HangReport report = report_of(made_hang());
  EXPECT_EQ(report.answer,
            "standing for 12 s: rank 0 (process 100) waits for batch 13 of worker 1 (process 201), "
            "which waits for a lock or another thread, at /data/user.py:34 in __getitem__ (sample "
            "471)");
  EXPECT_THAT(report.lines(), ElementsAre(report.answer, "  worker 0: idle: batches are ready",
                                          HasSubstr("  Cause: lock-held-at-fork: worker 1 waits"),
                                          HasSubstr("  Do: DataLoader(")));
}

// It may have a large sample in hand.
TEST(HangReport, OfWhoIsBusyNoReasonIsClaimed) {
  HangFacts facts = made_hang();
  facts.is_busy = true;
  const HangReport report = report_of(facts);
  EXPECT_THAT(report.answer, HasSubstr("no batch for 12 s: rank 0 (process 100) waits for batch"));
  EXPECT_EQ(report.cause, "");
}

TEST(HangReport, WhoStandsAlikeIsOneLine) {
  HangFacts facts = made_hang();
  for (std::int32_t number = 2; number < 20; ++number)
    facts.ranks[0].workers.push_back(made_worker(number));
  const HangReport report = report_of(facts);
  ASSERT_GE(report.others.size(), 2U);
  EXPECT_EQ(report.others[1], "workers 2, 3, 4, 5, 6, 7, 8, 9 and 10 more: idle: no task");
}

TEST(HangReport, ABatchThatWasSentIsNotTheWorkers) {
  HangFacts facts = made_hang();
  facts.ranks[0].awaited[0].finished = facts.ranks[0].awaited[0].sent = true;
  facts.ranks[0].call = {"recvmsg", CallKind::reads, "", true};
  EXPECT_THAT(report_of(facts).answer,
              HasSubstr("which worker 1 (process 201) has sent: it takes it in and waits in "
                        "recvmsg() of a socket"));
}

TEST(HangReport, NamesOfFilesDriveNoTerminal) {
  HangFacts facts = made_hang();
  maker_of(facts).call = {"read", CallKind::reads, "/a\033[2J", false};
  const HangReport report = report_of(facts);
  EXPECT_EQ(report.answer.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace loaderscope::hang
