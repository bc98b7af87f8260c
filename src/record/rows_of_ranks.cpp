#include "record/rows_of_ranks.h"

#include <algorithm>

namespace loaderscope {
namespace {

// 0 and kNever: it was not.
void shift_point(Nanos& at, Nanos delta) {
  if (at > 0 && at != kNever) at += delta;
}

void shift_row(StepRow& row, Nanos delta) {
  for (Nanos* at : {&row.ask, &row.deliverable, &row.take, &row.copy_begin, &row.copy_end,
                    &row.idle_begin, &row.compute_begin, &row.compute_end, &row.made_end})
    shift_point(*at, delta);
}

void shift_events(StepEvents& events, Nanos delta) {
  for (Nanos* at : {&events.epoch_dispatch, &events.dispatched, &events.begun, &events.finished,
                    &events.deliverable, &events.ask, &events.take, &events.ready, &events.handed,
                    &events.submitted})
    shift_point(*at, delta);
  const auto shift = [&](Interval& part) {
    shift_point(part.begin, delta);
    shift_point(part.end, delta);
  };
  for (Interval* part :
       {&events.send, &events.receive, &events.pin, &events.copy, &events.launch, &events.compute})
    shift(*part);
  for (DeviceWork& task : events.made) {
    shift(task.submit);
    shift(task.at);
  }
}

constexpr std::int64_t kMaxAtOnce = 4096;   // rows of each rank that are looked at together
constexpr std::int64_t kMaxRows = 1 << 18;  // and of all ranks

}  // namespace

void shift_times(RankRecord& rank, Nanos delta) {
  for (Nanos* at : {&rank.first_ask, &rank.window_begin, &rank.window_end}) shift_point(*at, delta);
  StepRows rows;
  rank.rows.for_each([&](StepRow row) {
    shift_row(row, delta);
    rows.push_back(row);
  });
  rank.rows = std::move(rows);
  for (Exemplar& exemplar : rank.exemplars) {
    shift_row(exemplar.row, delta);
    shift_events(exemplar.events, delta);
    for (auto& [worker, span] : exemplar.spans) {
      shift_point(span.begin, delta);
      shift_point(span.end, delta);
    }
  }
}

std::int64_t steps_of_all(const std::vector<RankRecord>& ranks) {
  std::int64_t fewest = ranks.empty() ? 0 : ranks.front().rows.size();
  for (const RankRecord& rank : ranks) fewest = std::min(fewest, rank.rows.size());
  return fewest;
}

void move_clock(StepRow& row, Nanos delta) {
  row.idle_begin += delta;
  row.compute_begin += delta;
  row.compute_end += delta;
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

Exemplar* find_exemplar(RankRecord& rank, std::int64_t step) {
  const auto found = std::lower_bound(
      rank.exemplars.begin(), rank.exemplars.end(), step,
      [](const Exemplar& exemplar, std::int64_t wanted) { return exemplar.row.step < wanted; });
  const bool is_there = found != rank.exemplars.end() && found->row.step == step;
  return is_there ? &*found : nullptr;
}

}  // namespace loaderscope
