#include "report/check_step.h"

#include <fmt/format.h>

namespace loaderscope {
namespace {

// A sum of what is at most 2^60 each stays in range as long as it is looked at after each.
void check_booking(const JsonCursor& json, const StepRow& row) {
  const auto at_most_idle = [&](Nanos sum) { return sum >= 0 && sum <= row.idle(); };
  Nanos booked = 0;
  for (Nanos ns : row.stall) {
    booked += ns;
    if (!at_most_idle(booked)) break;
  }
  if (booked != row.idle())
    json.fail(fmt::format("books {} ns of {} ns of idle time to causes", booked, row.idle()));
  Nanos explained = 0;
  for (Nanos ns : row.why) {
    explained += ns;
    if (!at_most_idle(explained)) json.fail("has more in why_s than it was idle");
  }
  if (row.not_asking > row.stall[Cause::launch])
    json.fail("has more in not_asking_s than in launch");
  if (row.device.decode > row.stall[Cause::decode] ||
      row.device.augment > row.stall[Cause::augment] || row.device.lane_wait > row.idle())
    json.fail("has more in on_device_s or lane_wait_s than in its stall");
  if (row.waiting_for_ranks > row.idle() || row.order > row.idle())
    json.fail("has waited longer for ranks or an order than it was idle");
}

}  // namespace

void check_step(const JsonCursor& json, const StepRow& row, std::int64_t step, Nanos idle_begin) {
  if (row.step != step) json.fail(fmt::format("is step {} where step {} is due", row.step, step));
  if (row.idle_begin != idle_begin) json.fail("does not begin where the step before it ends");
  if (row.compute_begin < row.idle_begin || row.compute_end < row.compute_begin)
    json.fail("has a compute that ends before it begins");
  check_booking(json, row);
}

void place_exemplar(Exemplar& exemplar, const StepRow& row) {
  exemplar.row = row;
  StepEvents& events = exemplar.events;
  events.step = row.step;
  events.epoch = row.epoch;
  events.first_of_epoch = row.first_of_epoch;
  events.warmup = row.warmup;
  events.worker = row.worker;
  events.samples = row.samples;
}

}  // namespace loaderscope
