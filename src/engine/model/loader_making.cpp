// The work of a worker on a batch, stage by stage.
#include "engine/model/loader.h"
#include "record/checked_sum.h"

namespace loaderscope::model {

void ModelLoader::begin_sample(std::int32_t index) {
  Worker& worker = worker_at(index);
  worker.stage = 0;
  if (worker.sample == worker.sample_end) return;
  worker.sample_id = plan_.sample_at(rank_, epoch_, sample_position(worker));
  worker.sample_bytes = plan_.storage.stored_bytes(execution_of_sample(index));
  const DevicePlan& device = plan_.on_device;
  const Execution sample = device.makes() ? execution_of_sample(index) : Execution();
  const bool is_held = device.makes() && plan_.device_holds(sample);
  if (!is_held) add_checked(worker.batch->events.read_bytes, worker.sample_bytes);
  if (device.makes()) {
    const bool decodes = plan_.device_decodes(sample);
    device.add_sample(sample, decodes, is_held ? 0 : device.copied_bytes(decodes, sample.bytes),
                      worker.batch->on_device);
  }
}

Execution ModelLoader::execution_of_sample(std::int32_t index) {
  const Worker& worker = worker_at(index);
  Execution execution = this->execution(index, *worker.batch);
  execution.draw = worker.sample_id;
  execution.count = sample_position(worker);
  execution.bytes = worker.sample_bytes;
  return execution;
}

void ModelLoader::make(std::int32_t index) {
  Worker& worker = worker_at(index);
  while (worker.doing == WorkerState::sampling && worker.sample < worker.sample_end) {
    if (worker.stage == plan_.sample_stages.size()) {
      ++worker.sample;
      begin_sample(index);
      continue;
    }
    const StagePlan& stage = plan_.sample_stages[worker.stage++];
    const Execution sample = execution_of_sample(index);
    if (plan_.on_device.makes() && plan_.leaves_to_device(stage.stage(), sample)) continue;
    if (begin_stage(index, stage, sample)) return;
  }
  if (!worker.woken) {
    // Made at once: the worker is woken when the time computed has come, with nothing left to make.
    // Also when nothing took any time, so that works without a cost follow each other as events,
    // not as nested calls.
    if (plan_.makes_at_once && !plan_.sample_tasks && plan_.collate.active()) collate(index);
    world_.wake_at(worker.clock, who(Role::worker, index));
    return;
  }
  if (worker.doing == WorkerState::sampling) {
    samples_made(index);
  } else {
    finish(index);
  }
}

void ModelLoader::collate(std::int32_t index) {
  Worker& worker = worker_at(index);
  worker.doing = WorkerState::collating;
  begin_stage(index, plan_.collate, execution(index, *worker.batch));
}

// Begins a stage on the worker's clock. True when the worker is to be woken at its end; false when
// the time is computed already.
bool ModelLoader::begin_stage(std::int32_t index, const StagePlan& stage,
                              const Execution& execution) {
  Worker& worker = worker_at(index);
  worker.working_on = stage.stage();
  worker.working_bytes = execution.bytes;
  const StageTime time = stage_time(stage, execution);
  if (plan_.makes_at_once) {
    const Nanos begin = worker.clock;
    worker.clock += time.wall() + (is_from_storage(stage) ? plan_.storage.latency : 0);
    check_time(worker.clock);
    record(index, {begin, worker.clock, time.cpu, 0});
    return false;
  }
  worker.working = true;
  if (is_requested(stage)) {
    worker.work = world_.begin_waiting();
    worker.after_request = time;
    worker.awaits_request = true;
    requests_[static_cast<std::size_t>(index)].ask(samples_known(index));
    look_for_request(index);
  } else if (is_from_storage(stage)) {
    worker.work = world_.begin_waiting();
    worker.read.bytes = execution.bytes;
    worker.read.extra = time.waits;
    world_.begin_read(who(Role::worker, index), worker.read);
  } else {
    world_.begin(who(Role::worker, index), time, worker.work);
  }
  return true;
}

// Returns only the part of a read that the shared storage or the requests do not cover.
StageTime ModelLoader::stage_time(const StagePlan& stage, const Execution& execution) const {
  if (is_from_storage(stage)) return {stage.injected(execution), 0, 0};
  const StageTime time = plan_.sample_time(stage, execution);
  return is_requested(stage) ? StageTime{stage.injected(execution), 0, time.cpu} : time;
}

// Asks for what may be asked for by now. Once the sample is there the rest of the read begins.
void ModelLoader::look_for_request(std::int32_t index) {
  Worker& worker = worker_at(index);
  RequestQueue& requests = requests_[static_cast<std::size_t>(index)];
  const Nanos next = requests.look(world_.now(), world_.request_link_free());
  if (next > world_.now()) {
    world_.wake_at(next, who(Role::worker, index));
    return;
  }
  worker.awaits_request = false;
  const Nanos asked = worker.work.begin;
  world_.begin(who(Role::worker, index), worker.after_request, worker.work);
  worker.work.begin = asked;
}

// A worker knows of the samples of its batch, or of its share of one, and of the next in its queue.
std::int64_t ModelLoader::samples_known(std::int32_t index) const {
  const Worker& worker = workers_[static_cast<std::size_t>(index)];
  std::int64_t known = worker.sample_end - worker.sample - 1;
  if (plan_.streamed) {
    known = plan_.config.loader.batch_size * plan_.prefetch_depth;
  } else if (plan_.sample_tasks) {
    known = has_samples() ? (plan_.config.loader.batch_size - 1) / plan_.workers : 0;
  } else if (!worker.tasks.empty()) {
    known += worker.tasks.front()->events.samples;
  }
  return known;
}

void ModelLoader::record(std::int32_t index, const Interval& interval) {
  const Worker& worker = worker_at(index);
  Span span = make_span(interval, worker.working_on);
  span.batch = worker.batch->events.batch;
  span.sample = is_per_sample(worker.working_on) ? worker.sample_id : -1;
  span.bytes = worker.working_bytes;
  folder_.span(rank_, index, span);
}

void ModelLoader::samples_made(std::int32_t index) {
  Worker& worker = worker_at(index);
  if (plan_.sample_tasks && --worker.batch->samples_left > 0) {
    // Somebody else is still at work on this batch.
    rest(index);
    next_task(index);
    return;
  }
  if (!plan_.collate.active()) {
    finish(index);
    return;
  }
  collate(index);
  if (plan_.makes_at_once) world_.wake_at(worker.clock, who(Role::worker, index));
}

void ModelLoader::finish(std::int32_t index) {
  Worker& worker = worker_at(index);
  ModelBatch& batch = *worker.batch;
  StepEvents& events = batch.events;
  events.worker = index;
  events.begun = worker.begun;
  events.worker_idle = worker.rested;
  events.finished = world_.now();
  rest(index);
  hand_over_.finished(index, batch);
  if (worker.doing == WorkerState::resting) next_task(index);
}

}  // namespace loaderscope::model
