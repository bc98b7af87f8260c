#include "hang/hang_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "hang/hang_causes.h"
#include "hang/hang_text.h"

namespace loaderscope::hang {
namespace {

constexpr std::size_t kMaxGroups = 5;   // limit of groups of processes with the same state
constexpr std::size_t kMaxNumbers = 8;  // limit of one group

struct Group {
  std::string place;
  std::vector<std::int32_t> numbers;
};

void add_to(std::vector<Group>& groups, std::string place, std::int32_t number) {
  for (Group& group : groups) {
    if (group.place != place) continue;
    group.numbers.push_back(number);
    return;
  }
  groups.push_back({std::move(place), {number}});
}

// "workers 0, 1, 3: idle: no task"; "worker 0: waits in ...".
std::string line_of(std::string_view noun, Group group) {
  const std::size_t count = group.numbers.size();
  const bool is_cut = count > kMaxNumbers;
  if (is_cut) group.numbers.resize(kMaxNumbers);
  return fmt::format("{}{} {}{}: {}", noun, count == 1 ? "" : "s", fmt::join(group.numbers, ", "),
                     is_cut ? fmt::format(" and {} more", count - kMaxNumbers) : "", group.place);
}

std::vector<std::string> lines_of(std::string_view noun, std::vector<Group> groups) {
  std::vector<std::string> lines;
  for (Group& group : groups) {
    if (lines.size() == kMaxGroups) break;
    lines.push_back(line_of(noun, std::move(group)));
  }
  return lines;
}

bool has_batches_ready(const RankFacts& rank, const WorkerFacts& worker) {
  for (const AwaitedBatch& batch : rank.awaited) {
    if (batch.worker == worker.number && batch.finished) return true;
  }
  return false;
}

std::string place_beside(const RankFacts& rank, const WorkerFacts& worker) {
  if (worker.has_ended || worker.is_stopped || worker.batch >= 0)
    return place_of(worker) + work_of(worker);
  return has_batches_ready(rank, worker) ? "idle: batches are ready" : "idle: no task";
}

std::vector<std::string> other_workers(const RankFacts& rank) {
  std::vector<Group> groups;
  for (const WorkerFacts& worker : rank.workers) {
    if (&worker != rank.maker()) add_to(groups, place_beside(rank, worker), worker.number);
  }
  return lines_of("worker", std::move(groups));
}

std::vector<std::string> other_ranks(const HangFacts& facts) {
  std::vector<Group> groups;
  for (const RankFacts& rank : facts.ranks) {
    if (&rank == &facts.rank() || rank.rank < 0) continue;
    const std::string epoch =
        &rank == rank_without_batches(facts, facts.rank()) ? "has no more batches; it " : "";
    add_to(groups, epoch + place_of(rank), rank.rank);
  }
  return lines_of("rank", std::move(groups));
}

// Describes the process that the rank waits for, and its state.
std::string awaited_by(const RankFacts& rank) {
  const AwaitedBatch* batch = rank.next_batch();
  const bool is_known = !rank.loader.is_opaque && batch != nullptr;
  if (!is_known) return fmt::format("waits for its loader and {}", place_of(rank));
  if (rank.loader.num_workers == 0)
    return fmt::format("makes batch {} itself and {}{}", batch->number, place_of(rank),
                       work_of(rank));
  const WorkerFacts* maker = rank.maker();
  const std::string worker = maker != nullptr ? with_process(name_of(*maker), *maker)
                                              : fmt::format("worker {}", batch->worker);
  if (batch->sent)
    return fmt::format("waits for batch {}, which {} has sent: it takes it in and {}",
                       batch->number, worker, place_of(rank));
  if (batch->finished)
    return fmt::format("waits for batch {}, which {} has made and not sent", batch->number, worker);
  return fmt::format("waits for batch {} of {}, which {}", batch->number, worker,
                     maker != nullptr ? place_of(*maker) + work_of(*maker)
                     : batch->begun   ? "is gone"
                                      : "has not started");
}

std::string answer_of(const HangFacts& facts) {
  const RankFacts& rank = facts.rank();
  return fmt::format("{} for {} s: {} {}", facts.is_busy ? "no batch" : "standing",
                     facts.since / kSecond, with_process(name_of(rank), rank),
                     rank.asking_for > 0 ? awaited_by(rank) : place_of(rank));
}

}  // namespace

std::vector<std::string> HangReport::lines() const {
  std::vector<std::string> lines = {answer};
  for (const std::string& line : others) lines.push_back("  " + line);
  if (cause.empty()) return lines;
  lines.push_back("  Cause: " + cause);
  lines.push_back("  Do: " + advice);
  return lines;
}

HangReport report_of(const HangFacts& facts) {
  HangReport report;
  report.answer = answer_of(facts);
  if (facts.rank().asking_for > 0) report.others = other_workers(facts.rank());
  for (std::string& line : other_ranks(facts)) report.others.push_back(std::move(line));
  const auto reason = facts.is_busy ? std::nullopt : cause_of(facts);
  if (!reason) return report;
  report.cause = fmt::format("{}: {}", reason->name, reason->words.cause);
  report.advice = reason->words.advice;
  return report;
}

}  // namespace loaderscope::hang
