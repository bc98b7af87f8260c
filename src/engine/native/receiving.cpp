#include "engine/native/receiving.h"

#include <algorithm>

#include "record/interval_meter.h"

namespace loaderscope::native {

void note_arrival(const PoppedBatch& popped, Nanos sent) {
  const Nanos now = monotonic_now();
  popped.item->events.receive = {popped.waited ? std::min(sent, now) : now, now, 0, 0};
}

void spend_on_receiving(const LoaderPlan& plan, Batch& batch, const Execution& execution,
                        Sleeper& sleeper, RunQueueMeter& run_queue) {
  const nvtx::Range range(Stage::transport_recv,
                          {batch.events.batch, -1, batch.events.delivered_bytes});
  Interval& receive = batch.events.receive;
  const Interval arrival = receive;  // delay has been read
  IntervalMeter meter(run_queue);
  spend(plan.receive, execution, sleeper);
  receive = meter.end(plan.receive.sleeps());
  if (!arrival.ran()) return;
  receive.begin = arrival.begin;
  receive.queued += arrival.queued;
}

void receive_batch(const RankShare& share, const PoppedBatch& popped, Sleeper& sleeper,
                   RunQueueMeter& run_queue) {
  const LoaderPlan& plan = share.plan;
  Batch& batch = *popped.item;
  if (plan.config.loader.executor == Executor::processes) {
    note_arrival(popped, batch.events.send.end);
    Interval& receive = batch.events.receive;
    receive.queued = run_queue.read_at_most(receive.wall());
  }
  if (plan.receive.active() && !plan.made_by_trainer)
    spend_on_receiving(plan, batch, share.execution(-1, batch), sleeper, run_queue);
}

}  // namespace loaderscope::native
