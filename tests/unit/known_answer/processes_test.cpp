// Ranks that meet at a barrier, folded as one process each would fold its own, and brought
// together: the account is that of one process that sees them all.
#include <algorithm>
#include <memory>

#include "engine/model/model_engine.h"
#include "record/rank_waits.h"
#include "record/recorder.h"
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

// One folder for `each` ranks.
class FoldersOfProcesses : public EventObserver {
 public:
  FoldersOfProcesses(std::int32_t processes, std::int32_t each, std::int32_t workers)
      : each_(each) {
    FoldOptions options;
    options.ranks = each;
    options.workers = workers;
    options.sync_ranks = true;
    options.ranks_elsewhere = true;
    for (std::int32_t i = 0; i < processes; ++i)
      folders_.push_back(std::make_unique<Folder>(options));
  }

  void first_ask(std::int32_t rank, Nanos at) override {
    rank_folder(rank).first_ask(rank % each_, at);
  }
  void span(std::int32_t rank, std::int32_t worker, const Span& span) override {
    rank_folder(rank).span(rank % each_, worker, span);
  }
  void deliverable(std::int32_t rank, std::int64_t batch, Nanos at) override {
    rank_folder(rank).deliverable(rank % each_, batch, at);
  }
  void step(std::int32_t rank, const StepEvents& events) override {
    rank_folder(rank).step(rank % each_, events);
  }

  void finish_into(RunRecord& job) {
    job.ranks.clear();
    for (const auto& folder : folders_) {
      HostRecord host;
      host.ranks = each_;
      job.hosts.push_back(host);
      for (RankRecord& rank : folder->finish()) job.ranks.push_back(std::move(rank));
    }
  }

 private:
  Folder& rank_folder(std::int32_t rank) {
    return *folders_.at(static_cast<std::size_t>(rank / each_));
  }

  std::int32_t each_;
  std::vector<std::unique_ptr<Folder>> folders_;
};

struct Accounts {
  RunRecord together, apart;
};

// `there`: processes whose records come.
Accounts make_accounts(const std::string& settings, std::int32_t processes,
                       std::size_t there = 1000) {
  const RunConfig config = case_config(settings);
  FoldersOfProcesses folders(processes, static_cast<std::int32_t>(config.trainer.ranks / processes),
                             static_cast<std::int32_t>(config.loader.num_workers.value));
  RunContext context;
  context.observer = &folders;
  Accounts accounts;
  accounts.together = run_model(config, context);
  accounts.apart.engine = accounts.together.engine;
  accounts.apart.config = config;
  folders.finish_into(accounts.apart);
  while (accounts.apart.hosts.size() > there) {
    for (std::int64_t i = 0; i < accounts.apart.hosts.back().ranks; ++i)
      accounts.apart.ranks.pop_back();
    accounts.apart.hosts.pop_back();
  }
  book_process_waits(accounts.apart);
  return accounts;
}

// `most`: of a cause, in all of the window.
void expect_alike(const Accounts& accounts, Nanos most = 0) {
  ASSERT_EQ(accounts.apart.ranks.size(), accounts.together.ranks.size());
  for (std::size_t rank = 0; rank < accounts.apart.ranks.size(); ++rank) {
    SCOPED_TRACE("rank " + std::to_string(rank));
    const Account one = rank_account(accounts.together.ranks[rank]);
    const Account other = rank_account(accounts.apart.ranks[rank]);
    EXPECT_EQ(other.window, one.window);
    EXPECT_EQ(other.compute, one.compute);
    EXPECT_EQ(other.waiting_for_ranks, one.waiting_for_ranks);
    Nanos sum = other.compute;
    for (const Nanos ns : other.stall) sum += ns;
    EXPECT_EQ(sum, other.window);
    for (const auto& word : Words<Cause>::table())
      EXPECT_LE(std::abs(other.stall[word.value] - one.stall[word.value]), most) << word.name;
    for (const auto& word : Words<Why>::table())
      EXPECT_LE(std::abs(other.why[word.value] - one.why[word.value]), most) << word.name;
  }
}

TEST(KnownAnswerProcesses, WaitsForCauseOfSlowestRank) {
  for (const std::string settings :
       {"cost=decode=10ms:sleep inject=decode=+10ms@rank=1 compute=4ms",
        "cost=collate=1ms cost=h2d=2ms inject=h2d=+5ms@rank=1 compute=4ms",
        "cost=collate=1ms compute=4ms inject=compute=+6ms@rank=1",
        "cost=collate=1ms cost=h2d=2ms inject=h2d=+3ms@rank=1 compute=4ms "
        "inject=compute=+6ms@rank=1",
        "cost=decode=1ms:sleep inject=decode=+13ms@rank=1 compute=4ms inject=compute=+6ms@rank=1",
        "cost=decode=10ms:sleep inject=decode=+20ms@rank=0@every=2 compute=4ms",
        "cost=decode=2ms cost=launch=1ms inject=launch=+6ms@rank=1 compute=4ms",
        "cost=decode=2ms cost=transport=1ms:sleep inject=transport=+9ms@rank=1 compute=4ms"}) {
    SCOPED_TRACE(settings);
    expect_alike(make_accounts(
        "ranks=2 sync-ranks=true workers=1 batch=1 warmup=4 steps=30 " + settings, 2));
  }
}

TEST(KnownAnswerProcesses, MatchesWithoutWorkers) {
  expect_alike(
      make_accounts("ranks=2 sync-ranks=true workers=0 in-flight=1 batch=1 cost=decode=16ms "
                    "inject=collate=+4ms@rank=1 compute=4ms warmup=2 steps=30",
                    2));
}

TEST(KnownAnswerProcesses, MatchesForEachOfSeveralRanks) {
  for (const std::string slow : {"rank=0", "rank=3"}) {
    SCOPED_TRACE(slow);
    expect_alike(
        make_accounts("ranks=4 sync-ranks=true workers=2 batch=4 cost=decode=3ms:sleep "
                      "inject=decode=+2ms@rank=1 inject=decode=+4ms@" +
                          slow + " compute=4ms warmup=4 steps=40",
                      2));
  }
}

TEST(KnownAnswerProcesses, MatchesAtBeginOfEpoch) {
  expect_alike(
      make_accounts("ranks=2 sync-ranks=true workers=1 batch=1 samples=20 epochs=3 "
                    "cost=startup=20ms inject=startup=+10ms@rank=1 cost=decode=10ms:sleep "
                    "compute=10ms warmup=10",
                    2));
}

// A row has no order of reading and decoding: a wait is taken to be of both, as the samples of a
// batch are made one after the other. In a batch of 16 it is.
TEST(KnownAnswerProcesses, SplitsWaitsAmongStagesOfBatch) {
  const Accounts accounts = make_accounts(
      "ranks=3 sync-ranks=true workers=2 batch=16 cost=read=1ms cost=decode=lognormal:2ms:0.4 "
      "cost=augment=500us cost=collate=1ms inject=read=+1ms@rank=2 compute=9ms warmup=4 steps=200",
      3);
  expect_alike(accounts, rank_account(accounts.together.ranks[0]).window / 50);
}

// Rank 2 makes a batch in 30 ms, rank 1 in 20 and rank 0 in 10; C = 4. Without rank 2 nothing says
// what the 10 ms are in which it alone was not ready.
TEST(KnownAnswerProcesses, BooksWaitForMissingRankAsOther) {
  for (const std::size_t there : {std::size_t{1}, std::size_t{2}}) {
    const Accounts accounts = make_accounts(
        "ranks=3 sync-ranks=true workers=0 in-flight=1 batch=1 cost=decode=10ms:sleep "
        "inject=decode=+10ms@rank=1 inject=decode=+20ms@rank=2 compute=4ms warmup=4 steps=30",
        3, there);
    for (const RankRecord& rank : accounts.apart.ranks) {
      const Account account = rank_account(rank);
      EXPECT_EQ(account.compute, 30 * 4_ms);
      EXPECT_EQ(account.stall[Cause::decode], 30 * (there == 1 ? 10_ms : 20_ms));
      EXPECT_EQ(account.stall[Cause::other], 30 * (there == 1 ? 20_ms : 10_ms));
      EXPECT_EQ(account.window, 30 * 34_ms);
    }
  }
}

}  // namespace
}  // namespace loaderscope::known_answer
