#include "engine/native/rank_share.h"

#include <system_error>

#include "engine/native/memory_need.h"
#include "loaderscope/device.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {

RankShare::RankShare(Job& job, std::int32_t rank_number, std::pmr::memory_resource& memory)
    : plan(job.plan), rank(rank_number), has_feeders(native::has_feeders(plan)) {
  const auto slots = static_cast<std::size_t>(plan.slots());
  const auto depth = static_cast<std::size_t>(plan.prefetch_depth + 1);
  const auto samples = static_cast<std::size_t>(plan.config.loader.batch_size.value);
  const auto add_log = [&](std::int32_t worker) {
    return job.recorder ? &job.recorder->add_thread(rank, worker) : nullptr;
  };
  for (std::size_t i = 0; i < slots; ++i) batches.push_back(place<Batch>(memory, samples, memory));
  for (std::int32_t index = 0; index < plan.workers; ++index) {
    worker_queues.push_back(place<WorkerQueues>(memory, depth, memory));
    worker_queues.back()->log = add_log(index);
    if (has_feeders) worker_queues.back()->feeder_log = add_log(index);
  }
  if (plan.sample_tasks) sample_tasks = place<SampleQueue>(memory, depth, memory);
  to_pin = place<BlockingQueue<Batch*>>(memory, slots, memory, &pin_depth);
  ready = place<BlockingQueue<Batch*>>(memory, slots, memory, &ready_depth);
  if (plan.pin_thread) pin_log = add_log(0);
  if (plan.on_device.makes()) {
    to_device = place<BlockingQueue<Batch*>>(memory, slots, memory, &device_depth);
    device_log = add_log(0);
  }
  if (plan.config.loader.executor == Executor::processes && job.writes_samples) {
    const Bytes bytes = whole_pages(plan.layout.slot_bytes);
    shared_slots = static_cast<std::byte*>(memory.allocate(
        slots * static_cast<std::size_t>(bytes), static_cast<std::size_t>(kSlotAlignment)));
  }
}

void RankShare::format_depths() {
  if (plan.pin_thread) pin_depth = nvtx::Counter(add_rank("queue to pin"));
  if (plan.on_device.makes()) device_depth = nvtx::Counter(add_rank("queue to the device"));
  ready_depth = nvtx::Counter(add_rank("queue ready"));
}

void RankShare::open() {
  if (sample_tasks) sample_tasks->reopen();
  for (const auto& queues : worker_queues) {
    queues->tasks.reopen();
    queues->to_send.reopen();
  }
}

void RankShare::close() {
  if (sample_tasks) sample_tasks->close();
  for (const auto& queues : worker_queues) {
    queues->tasks.close();
    queues->to_send.close();
  }
}

void RankShare::send(Batch& batch, ThreadLog* log) {
  if (plan.pin_thread) {
    to_pin->push(&batch);
  } else {
    arrive(batch, log);
  }
}

void RankShare::arrive(Batch& batch, ThreadLog* log) {
  if (to_device) {
    batch.events.handed = monotonic_now();
    to_device->push(&batch);
  } else {
    deliver(batch, log);
  }
}

void RankShare::deliver(Batch& batch, ThreadLog* log) {
  batch.events.deliverable = monotonic_now();
  if (log != nullptr) log->deliverable(batch.events.batch, batch.events.deliverable);
  ready->push(&batch);
}

void RankShare::give_back(Batch& batch, std::int32_t worker) {
  batch.events.worker = worker;
  queues(worker).at_batch.store(-1, std::memory_order_relaxed);
  ready->push(&batch);
}

std::string RankShare::describe_workers(const SampleNames& name_of) const {
  constexpr int kNamed = 4;
  std::string text;
  int at_work = 0;
  for (std::size_t i = 0; i < worker_queues.size(); ++i) {
    const std::int64_t sample = worker_queues[i]->at_sample.load(std::memory_order_relaxed);
    if (sample < 0 || ++at_work > kNamed) continue;
    text += (text.empty() ? "worker " : ", worker ") + std::to_string(i) + " is at sample " +
            std::to_string(sample);
    if (name_of) text += " (" + name_of(sample) + ")";
  }
  if (at_work > kNamed) text += ", and " + std::to_string(at_work - kNamed) + " more have one";
  return text.empty() ? "no worker is making a sample" : text;
}

void RankShare::name_thread(const std::string& role) const {
  nvtx::name_thread(role, plan.ranks == 1 ? -1 : rank);
}

std::string RankShare::add_rank(const std::string& text) const {
  return plan.ranks == 1 ? text : text + " rank " + std::to_string(rank);
}

void Job::fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(failure);
  stop.store(1);
}

std::thread Job::start(std::function<void()> body) {
  alive_.fetch_add(1, std::memory_order_relaxed);
  try {
    return std::thread([this, body = std::move(body)] {
      try {
        body();
      } catch (...) {
        fail(std::current_exception());
      }
      alive_.fetch_sub(1, std::memory_order_release);
    });
  } catch (const std::system_error& error) {
    alive_.fetch_sub(1, std::memory_order_relaxed);
    throw RunError("a thread of the loader cannot be started (" + error.code().message() + ")",
                   "use fewer --workers or --ranks, or raise the limit with ulimit -u");
  }
}

void Job::rethrow() {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void Job::bind_worker(std::int32_t rank, std::int32_t worker) const {
  if (binding.empty()) return;
  const RankBinding& own = binding[static_cast<std::size_t>(rank)];
  const CpuSet& cpus = worker < 0 ? own.all : own.workers[static_cast<std::size_t>(worker)];
  if (run_on(cpus)) return;
  throw RunError(
      "bind: the kernel refuses CPUs " + cpu_list_to_text(cpus) + ", which it allowed before",
      "run again, or give --bind none");
}

void Job::put_first_ask(std::int32_t rank, Nanos at) {
  const std::lock_guard lock(mutex_);
  reports_.first_asks.emplace_back(rank, at);
}

void Job::put_step(std::int32_t rank, const StepEvents& events) {
  const std::lock_guard lock(mutex_);
  reports_.steps.emplace_back(rank, events);
}

// Both at once: a trainer may begin at any time.
const Job::Reports& Job::take_reports() {
  taken_.first_asks.clear();
  taken_.steps.clear();
  const std::lock_guard lock(mutex_);
  taken_.first_asks.swap(reports_.first_asks);
  taken_.steps.swap(reports_.steps);
  return taken_;
}

}  // namespace loaderscope::native
