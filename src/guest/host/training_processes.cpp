#include "guest/host/training_processes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/thread_meter.h"

namespace loaderscope::guest {

TrainingProcess& TrainingProcesses::get_process(const GuestProcess& member) {
  const Key key = process_key(member);
  const auto [found, is_new] = processes_.try_emplace(key, given_);
  ProcessOfRank& one = found->second;
  if (is_new) {
    for (auto& [other, before] : processes_)
      before.ended |= other.first == key.first && other < key;
  }
  if (!member.is_worker) one.rank = member.rank;
  return one.process;
}

void TrainingProcesses::advance(bool no_more) {
  for (auto& [key, one] : processes_) one.process.advance(no_more);
}

void TrainingProcesses::ended(const GuestProcess& member) {
  const auto found = processes_.find(process_key(member));
  if (found != processes_.end()) found->second.ended = true;
}

// Returns true if another process is the one that trains the same rank. A process that took a few
// batches and ended does not count. Of processes that follow each other, the one that trains
// longest counts.
bool TrainingProcesses::is_of_no_account(const ProcessOfRank& one) const {
  constexpr std::int64_t kFarMore = 10;
  const LoaderHistory* own = one.process.measured();
  if (own == nullptr) return false;
  return std::any_of(processes_.begin(), processes_.end(), [&](const auto& entry) {
    const LoaderHistory* other = entry.second.process.measured();
    if (other == nullptr || other == own || entry.second.rank != one.rank) return false;
    if (one.ended && other->taken() > kFarMore * own->taken()) return true;
    if (entry.second.ended && own->taken() > kFarMore * other->taken()) return false;
    const bool follow = (one.ended && other->first_ask() >= own->last_taken()) ||
                        (entry.second.ended && own->first_ask() >= other->last_taken());
    if (!follow) return false;
    return other->time().looped() > own->time().looped() ||
           (other->time().looped() == own->time().looped() &&
            other->first_ask() < own->first_ask());
  });
}

std::vector<LoaderHistory*> TrainingProcesses::rank_histories() {
  std::vector<std::pair<std::int32_t, LoaderHistory*>> ranked;
  for (auto& [key, one] : processes_) {
    LoaderHistory* history = one.process.measured();
    if (history != nullptr && !is_of_no_account(one)) ranked.emplace_back(one.rank, history);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<LoaderHistory*> histories;
  for (const auto& [rank, history] : ranked) histories.push_back(history);
  return histories;
}

std::vector<const LoaderHistory*> TrainingProcesses::measured() const {
  std::vector<const LoaderHistory*> histories;
  for (const auto& [key, one] : processes_) {
    const LoaderHistory* history = one.process.measured();
    if (history != nullptr && !is_of_no_account(one)) histories.push_back(history);
  }
  return histories;
}

const LoaderHistory* TrainingProcesses::first_measured() const {
  const auto histories = measured();
  return histories.empty() ? nullptr : histories.front();
}

std::vector<const LoaderHistory*> TrainingProcesses::first_used_loaders() const {
  const LoaderHistory* first = first_measured();
  for (const auto& [key, one] : processes_) {
    if (first != nullptr && one.process.measured() == first) return one.process.used();
  }
  return {};
}

std::int64_t TrainingProcesses::left_out() const {
  std::int64_t left_out = 0;
  for (const auto& [key, one] : processes_) left_out += one.process.left_out();
  return left_out;
}

bool TrainingProcesses::window_begun() const {
  const auto histories = measured();
  return std::any_of(histories.begin(), histories.end(),
                     [](const LoaderHistory* history) { return history->window().begun(); });
}

std::int64_t TrainingProcesses::restarted_windows() const {
  const auto histories = measured();
  return std::count_if(histories.begin(), histories.end(), [](const LoaderHistory* history) {
    return history->thrown_away().batches > 0;
  });
}

bool TrainingProcesses::is_window_open() const {
  const auto histories = measured();
  return std::any_of(histories.begin(), histories.end(),
                     [](const LoaderHistory* history) { return history->window().is_open(); });
}

bool TrainingProcesses::windows_ended() const {
  const auto histories = measured();
  return !histories.empty() &&
         std::all_of(histories.begin(), histories.end(),
                     [](const LoaderHistory* history) { return history->window().ended(); });
}

Nanos TrainingProcesses::window_end() const {
  Nanos end = 0;
  for (const LoaderHistory* history : measured()) end = std::max(end, history->window().end());
  return end;
}

HookCostSchedule::Seen TrainingProcesses::seen() const {
  HookCostSchedule::Seen seen;
  for (const LoaderHistory* history : measured()) {
    seen.window = std::max(seen.window, history->window().length());
    seen.steps = std::max(seen.steps, history->window().steps());
    seen.taken += history->taken_within_epochs();
    seen.clock = std::max(seen.clock, history->clock_within_epochs());
    const LoaderFacts& loader = history->loader();
    seen.ahead += loader.num_workers * loader.prefetch_factor;
  }
  return seen;
}

Progress TrainingProcesses::progress(RunningAccount& account) const {
  const auto histories = measured();
  Progress progress;
  account = {};
  progress.account = &account;
  progress.fraction = histories.empty() ? 0 : 1;
  for (const LoaderHistory* history : histories) {
    progress.steps += history->window().steps();
    progress.samples += history->window().samples();
    account.add(history->window().account());
    progress.fraction = std::min(progress.fraction, history->window().fraction());
  }
  return progress;
}

std::vector<TrainingProcesses::Trainer> TrainingProcesses::trainers() const {
  std::vector<Trainer> all;
  for (const auto& [key, one] : processes_)
    all.push_back({key.first, one.rank, one.ended, &one.process});
  return all;
}

Nanos TrainingProcesses::longest_wait() const {
  const Nanos now = monotonic_now();
  Nanos longest = 0;
  for (const auto& [key, one] : processes_) {
    const Nanos since = one.process.movement().asking_since();
    if (since != 0 && !one.ended) longest = std::max(longest, now - since);
  }
  return longest;
}

bool TrainingProcesses::each_has_taken(std::int64_t batches, std::int64_t worker_batches) const {
  return !processes_.empty() &&
         std::all_of(processes_.begin(), processes_.end(), [&](const auto& entry) {
           const LoaderHistory* history = entry.second.process.measured();
           if (history == nullptr) return false;
           const std::int64_t workers = history->loader().num_workers;
           return history->taken() >= std::max(batches, worker_batches * workers);
         });
}

std::int64_t epoch_batches(const LoaderFacts& loader) {
  if (loader.batches > 0 || loader.batch_size <= 0) return loader.batches;
  const std::int64_t whole = loader.samples / loader.batch_size;
  const bool has_rest = loader.samples % loader.batch_size != 0;
  return whole + (has_rest && !loader.drop_last ? 1 : 0);
}

std::string length_sentence(const std::vector<RankLength>& lengths) {
  if (lengths.empty()) return "";
  const auto [least, most] =
      std::minmax_element(lengths.begin(), lengths.end(),
                          [](const auto& a, const auto& b) { return a.batches < b.batches; });
  if (least->batches == most->batches) return "";
  return fmt::format(
      "rank {} has {} in an epoch and rank {} has {}: where steps need all ranks, as with "
      "DistributedDataParallel, the epoch's end will hang; give all ranks as many "
      "(DistributedSampler, drop_last=True), or wrap the loop in torch.distributed.algorithms.Join",
      least->rank, plural(least->batches, "batch"), most->rank, most->batches);
}

std::optional<std::string> EpochLengths::look(const TrainingProcesses& training, Nanos now) {
  constexpr Nanos kEvery = kSecond / 2;
  if (is_reported_ || now < next_look_) return std::nullopt;
  next_look_ = now + kEvery;
  std::vector<RankLength> lengths;
  for (const auto& trainer : training.trainers()) {
    const LoaderHistory* history = trainer.process->measured();
    if (trainer.rank < 0 || history == nullptr || !history->with_gradients()) return std::nullopt;
    lengths.push_back({trainer.rank, epoch_batches(history->loader())});
    if (lengths.back().batches == 0) return std::nullopt;
  }
  std::string sentence = length_sentence(lengths);
  is_reported_ = !sentence.empty();
  return is_reported_ ? std::optional(std::move(sentence)) : std::nullopt;
}

}  // namespace loaderscope::guest
