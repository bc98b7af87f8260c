#include "guest/host/trainers.h"

#include <algorithm>
#include <utility>

#include "base/thread_meter.h"

namespace loaderscope::guest {

TrainerProcess& Trainers::of(const Member& member) {
  Trainer& trainer = trainers_.try_emplace(member.training_process(), given_).first->second;
  if (!member.is_worker) trainer.rank = member.rank;
  return trainer.process;
}

void Trainers::advance(bool no_more) {
  for (auto& [pid, trainer] : trainers_) trainer.process.advance(no_more);
}

void Trainers::ended(pid_t process) {
  const auto found = trainers_.find(process);
  if (found != trainers_.end()) found->second.ended = true;
}

// Of processes that are the same rank one trains: not one that looked at a few batches and ended,
// and of those that follow upon each other, the one that trains longest.
bool Trainers::is_of_no_account(const Trainer& trainer) const {
  constexpr std::int64_t kFarMore = 10;
  const Training* own = trainer.process.measured();
  if (own == nullptr) return false;
  return std::any_of(trainers_.begin(), trainers_.end(), [&](const auto& entry) {
    const Training* other = entry.second.process.measured();
    if (other == nullptr || other == own || entry.second.rank != trainer.rank) return false;
    if (trainer.ended && other->taken() > kFarMore * own->taken()) return true;
    const bool follow = (trainer.ended && other->first_ask() >= own->last_taken()) ||
                        (entry.second.ended && own->first_ask() >= other->last_taken());
    if (!follow) return false;
    return other->spent() > own->spent() ||
           (other->spent() == own->spent() && other->first_ask() < own->first_ask());
  });
}

std::vector<Training*> Trainers::by_rank() {
  std::vector<std::pair<std::int32_t, Training*>> ranked;
  for (auto& [pid, trainer] : trainers_) {
    Training* training = trainer.process.measured();
    if (training != nullptr && !is_of_no_account(trainer))
      ranked.emplace_back(trainer.rank, training);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Training*> trainings;
  for (const auto& [rank, training] : ranked) trainings.push_back(training);
  return trainings;
}

std::vector<const Training*> Trainers::measured() const {
  std::vector<const Training*> trainings;
  for (const auto& [pid, trainer] : trainers_) {
    const Training* training = trainer.process.measured();
    if (training != nullptr && !is_of_no_account(trainer)) trainings.push_back(training);
  }
  return trainings;
}

const Training* Trainers::first_measured() const {
  const auto trainings = measured();
  return trainings.empty() ? nullptr : trainings.front();
}

std::int64_t Trainers::other_iterations() const {
  std::int64_t iterations = 0;
  for (const auto& [pid, trainer] : trainers_) iterations += trainer.process.other_iterations();
  return iterations;
}

std::int64_t Trainers::left_out() const {
  std::int64_t left_out = 0;
  for (const auto& [pid, trainer] : trainers_) left_out += trainer.process.left_out();
  return left_out;
}

bool Trainers::window_begun() const {
  const auto trainings = measured();
  return std::any_of(trainings.begin(), trainings.end(),
                     [](const Training* training) { return training->window().begun(); });
}

bool Trainers::in_window() const {
  const auto trainings = measured();
  return std::any_of(trainings.begin(), trainings.end(),
                     [](const Training* training) { return training->window().is_open(); });
}

bool Trainers::windows_ended() const {
  const auto trainings = measured();
  return !trainings.empty() &&
         std::all_of(trainings.begin(), trainings.end(),
                     [](const Training* training) { return training->window().ended(); });
}

Nanos Trainers::window_end() const {
  Nanos end = 0;
  for (const Training* training : measured()) end = std::max(end, training->window().end());
  return end;
}

HookSeries::Seen Trainers::seen() const {
  HookSeries::Seen seen;
  for (const Training* training : measured()) {
    seen.window = std::max(seen.window, training->window().length());
    seen.steps = std::max(seen.steps, training->window().steps());
    seen.taken += training->taken_within_epochs();
    seen.clock = std::max(seen.clock, training->clock_within_epochs());
    const LoaderFacts& loader = training->loader();
    seen.ahead += loader.num_workers * loader.prefetch_factor;
  }
  return seen;
}

Progress Trainers::progress() const {
  const auto trainings = measured();
  Progress progress;
  progress.fraction = trainings.empty() ? 0 : 1;
  for (const Training* training : trainings) {
    progress.steps += training->window().steps();
    progress.samples += training->window().samples();
    progress.fraction = std::min(progress.fraction, training->window().fraction());
  }
  return progress;
}

Nanos Trainers::longest_wait() const {
  const Nanos now = monotonic_now();
  Nanos longest = 0;
  for (const auto& [pid, trainer] : trainers_) {
    const Nanos since = trainer.process.asking_since();
    if (since != 0 && !trainer.ended) longest = std::max(longest, now - since);
  }
  return longest;
}

bool Trainers::each_has_taken(std::int64_t batches, std::int64_t of_each_worker) const {
  return !trainers_.empty() &&
         std::all_of(trainers_.begin(), trainers_.end(), [&](const auto& entry) {
           const Training* training = entry.second.process.measured();
           if (training == nullptr) return false;
           const std::int64_t workers = training->loader().num_workers;
           return training->taken() >= std::max(batches, of_each_worker * workers);
         });
}

}  // namespace loaderscope::guest
