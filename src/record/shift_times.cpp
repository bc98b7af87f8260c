#include "record/shift_times.h"

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

}  // namespace loaderscope
