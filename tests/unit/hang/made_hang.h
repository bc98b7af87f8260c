// Facts of a job that hangs, as tests make them: worker 1 of two makes the batch that is waited
// for, and waits for a lock.
#pragma once

#include "hang/hang_facts.h"

namespace loaderscope::hang {

inline PythonThread made_thread(std::vector<PythonFrame> frames) { return {std::move(frames)}; }

inline WorkerFacts made_worker(std::int32_t number) {
  WorkerFacts worker;
  worker.pid = 200 + number;
  worker.number = number;
  worker.open_files = 20;
  worker.most_files = 1024;
  return worker;
}

inline RankFacts made_rank(std::int32_t rank) {
  RankFacts facts;
  facts.pid = 100 + rank;
  facts.rank = rank;
  facts.current = {0, 0, 12};
  facts.loader.num_workers = 2;
  return facts;
}

inline HangFacts made_hang() {
  HangFacts facts;
  facts.since = 12 * kSecond;
  facts.shared_size = 64e6;
  facts.shared_free = 60e6;
  RankFacts& rank = facts.ranks.emplace_back(made_rank(0));
  rank.asking_for = 12 * kSecond;
  rank.workers = {made_worker(0), made_worker(1)};
  rank.awaited = {{13, 1, true, false, false, false}, {14, 0, true, true, true, false}};
  WorkerFacts& maker = rank.workers[1];
  maker.call = {"futex", CallKind::locks, "", false};
  maker.batch = 13;
  maker.sample = 471;
  maker.threads = {made_thread({{"/data/user.py", 34, "__getitem__"}})};
  return facts;
}

}  // namespace loaderscope::hang
