// Receiving a batch that a worker sent, on the thread that does it.
#pragma once

#include "engine/native/rank_share.h"

namespace loaderscope::native {

using PoppedBatch = BlockingQueue<Batch*>::Popped;

// Between processes it takes time until a thread that waits has the batch, which was sent at
// `sent`.
void note_arrival(const PoppedBatch& popped, Nanos sent);
// Spends the declared cost of receiving on the calling thread. `run_queue` measures the delays of
// that thread.
void spend_on_receiving(const LoaderPlan& plan, Batch& batch, const Execution& execution,
                        Sleeper& sleeper, RunQueueMeter& run_queue);
// Both, for a thread of the loader.
void receive_batch(const RankShare& share, const PoppedBatch& popped, Sleeper& sleeper,
                   RunQueueMeter& run_queue);

}  // namespace loaderscope::native
