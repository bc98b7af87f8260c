// Decides which batch, or which samples, each worker makes.
#include "engine/model/loader.h"

#include <bit>
#include <utility>

namespace loaderscope::model {

ModelLoader::ModelLoader(const LoaderPlan& plan, SimulatedMachine& world, Folder& folder,
                         std::int32_t rank, std::function<void(ModelBatch&)> arrived,
                         std::function<void()> all_started)
    : plan_(plan),
      world_(world),
      folder_(folder),
      rank_(rank),
      hand_over_(plan, world, folder, rank, std::move(arrived)),
      all_started_(std::move(all_started)),
      workers_(static_cast<std::size_t>(plan.workers)),
      resting_workers_(static_cast<std::size_t>(plan.workers + 63) / 64) {
  if (const FittedCosts::Requests* requests = plan.storage.requests())
    requests_ = std::vector<RequestQueue>(workers_.size(), RequestQueue(*requests));
}

void ModelLoader::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  dispatched_of_epoch_ = 0;
  next_worker_ = 0;
}

void ModelLoader::fill_window() {
  epoch_dispatch_ = world_.now();
  for (std::int64_t i = 0; i < plan_.prefetch_depth; ++i) dispatch_one();
}

void ModelLoader::dispatch_one() {
  if (plan_.batches_per_epoch > 0 && dispatched_of_epoch_ == plan_.batches_per_epoch) return;
  if (plan_.made_by_trainer && dispatched_of_epoch_ == 0) epoch_dispatch_ = world_.now();
  ModelBatch& batch = next_batch();
  if (plan_.sample_tasks) {
    sample_tasks_.push_back(&batch);
    give_samples();
    return;
  }
  const std::int32_t chosen = choose_worker();
  Worker& worker = worker_at(chosen);
  ++worker.outstanding;
  worker.tasks.push_back(&batch);
  if (plan_.made_by_trainer && worker.doing == WorkerState::nothing)
    worker.doing = WorkerState::resting;
  if (worker.doing == WorkerState::resting) next_task(chosen);
}

ModelBatch& ModelLoader::next_batch() {
  if (free_batches_.empty()) {
    batches_.push_back(std::make_unique<ModelBatch>());
    free_batches_.push_back(batches_.back().get());
  }
  ModelBatch& batch = *free_batches_.back();
  free_batches_.pop_back();
  batch = ModelBatch{};
  batch.batch_of_epoch = dispatched_of_epoch_++;
  batch.samples_left = plan_.samples_in_batch(batch.batch_of_epoch);
  StepEvents& events = batch.events;
  events.batch = dispatched_++;
  events.epoch = static_cast<std::int32_t>(epoch_);
  events.epoch_dispatch = epoch_dispatch_;
  events.dispatched = world_.now();
  events.made_by_trainer = plan_.made_by_trainer;
  events.samples = static_cast<std::int32_t>(batch.samples_left);
  events.delivered_bytes = plan_.delivered_bytes(batch.samples_left);
  return batch;
}

// PyTorch's rule: the next worker of the round; where the order does not matter, the next with
// fewer than prefetch-factor batches dispatched to it.
std::int32_t ModelLoader::choose_worker() {
  for (std::int32_t tried = 0; tried < plan_.workers; ++tried) {
    const std::int32_t chosen = next_worker_;
    next_worker_ = next_worker_ + 1 == plan_.workers ? 0 : next_worker_ + 1;
    if (plan_.in_order || worker_at(chosen).outstanding < plan_.config.loader.prefetch_factor)
      return chosen;
  }
  return next_worker_;
}

void ModelLoader::give_samples() {
  for (std::size_t word = 0; word < resting_workers_.size() && has_samples(); ++word) {
    while (resting_workers_[word] != 0 && has_samples()) {
      const int bit = std::countr_zero(resting_workers_[word]);
      next_task(static_cast<std::int32_t>(word * 64) + bit);
    }
  }
}

void ModelLoader::received(ModelBatch& batch) {
  if (!plan_.sample_tasks) --worker_at(batch.events.worker).outstanding;
}

void ModelLoader::release(ModelBatch& batch) { free_batches_.push_back(&batch); }

}  // namespace loaderscope::model
