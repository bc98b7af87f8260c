#include "record/rows_of_ranks.h"

#include <algorithm>

namespace loaderscope {
namespace {

// 0 and kNever: it was not.
void shift_point(Nanos& at, Nanos by) {
  if (at > 0 && at != kNever) at += by;
}

void shift_row(StepRow& row, Nanos by) {
  for (Nanos* at : {&row.ask, &row.deliverable, &row.take, &row.copy_begin, &row.copy_end,
                    &row.idle_begin, &row.compute_begin, &row.compute_end})
    shift_point(*at, by);
}

void shift_events(StepEvents& events, Nanos by) {
  for (Nanos* at : {&events.epoch_dispatch, &events.dispatched, &events.begun, &events.finished,
                    &events.deliverable, &events.ask, &events.take, &events.ready})
    shift_point(*at, by);
  for (Interval* part : {&events.send, &events.receive, &events.pin, &events.copy, &events.launch,
                         &events.compute}) {
    shift_point(part->begin, by);
    shift_point(part->end, by);
  }
}

constexpr std::int64_t kMaxAtOnce = 4096;   // rows of each rank that are looked at together
constexpr std::int64_t kMaxRows = 1 << 18;  // and of all ranks

}  // namespace

void shift_times(RankRecord& rank, Nanos by) {
  for (Nanos* at : {&rank.first_ask, &rank.window_begin, &rank.window_end}) shift_point(*at, by);
  StepRows rows;
  rank.rows.for_each([&](StepRow row) {
    shift_row(row, by);
    rows.push_back(row);
  });
  rank.rows = std::move(rows);
  for (Exemplar& exemplar : rank.exemplars) {
    shift_row(exemplar.row, by);
    shift_events(exemplar.events, by);
    for (auto& [worker, span] : exemplar.spans) {
      shift_point(span.begin, by);
      shift_point(span.end, by);
    }
  }
}

std::int64_t steps_of_all(const std::vector<RankRecord>& ranks) {
  std::int64_t fewest = ranks.empty() ? 0 : ranks.front().rows.size();
  for (const RankRecord& rank : ranks) fewest = std::min(fewest, rank.rows.size());
  return fewest;
}

void move_clock(StepRow& row, Nanos by) {
  row.idle_begin += by;
  row.compute_begin += by;
  row.compute_end += by;
}

void for_each_step(std::vector<RankRecord>& ranks, const ClockOffsets& offsets,
                   const std::function<bool(RowOfEachRank&)>& visit) {
  const std::int64_t steps = steps_of_all(ranks);
  const std::int64_t at_once =
      std::clamp<std::int64_t>(kMaxRows / std::ssize(ranks), 1, kMaxAtOnce);
  const auto offset = [&](std::size_t rank, const StepRow& row) {
    return offsets.empty() ? 0 : offsets[rank].offset_at(row.compute_end);
  };
  std::vector<std::vector<StepRow>> blocks(ranks.size());
  std::vector<std::vector<Nanos>> moved(ranks.size());
  RowOfEachRank rows(ranks.size());
  for (std::int64_t first = 0; first < steps; first += at_once) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      blocks[rank].resize(static_cast<std::size_t>(std::min(at_once, steps - first)));
      ranks[rank].rows.read(first, blocks[rank]);
      moved[rank].clear();
      for (StepRow& row : blocks[rank]) {
        moved[rank].push_back(offset(rank, row));
        move_clock(row, -moved[rank].back());
      }
    }
    bool changed = false;
    for (std::size_t i = 0; i < blocks.front().size(); ++i) {
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) rows[rank] = blocks[rank][i];
      if (!visit(rows)) continue;
      changed = true;
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) blocks[rank][i] = rows[rank];
    }
    if (!changed) continue;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      for (std::size_t i = 0; i < blocks[rank].size(); ++i)
        move_clock(blocks[rank][i], moved[rank][i]);
      ranks[rank].rows.write(first, blocks[rank]);
    }
  }
}

Exemplar* exemplar_of(RankRecord& rank, std::int64_t step) {
  const auto found = std::lower_bound(
      rank.exemplars.begin(), rank.exemplars.end(), step,
      [](const Exemplar& exemplar, std::int64_t of) { return exemplar.row.step < of; });
  const bool is_there = found != rank.exemplars.end() && found->row.step == step;
  return is_there ? &*found : nullptr;
}

}  // namespace loaderscope
