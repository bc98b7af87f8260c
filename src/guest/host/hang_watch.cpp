#include "guest/host/hang_watch.h"

#include <algorithm>
#include <utility>

namespace loaderscope::guest {
namespace {

constexpr Nanos kLookEvery = kSecond / 2;
// Factor on the patience for a busy process, whose sample may be large.
constexpr Nanos kBusyTimes = 6;

}  // namespace

HangWatch::Standing HangWatch::standing_of(const Trainer& trainer) {
  return {trainer.pid, trainer.process->movement().last()};
}

std::optional<hang::HangReport> HangWatch::look(Nanos now) {
  if (least_ == 0 || now < next_look_) return std::nullopt;
  next_look_ = now + std::min(kLookEvery, least_ / 8);
  const std::vector<Trainer> trainers = job_.training.trainers();
  if (request_) return report(trainers, now);
  if (told_) return std::nullopt;
  const Trainer* root = find_root(trainers, now);
  if (root == nullptr) return std::nullopt;
  root_ = standing_of(*root);
  request_ = ask_for_stacks(job_, *root);
  next_look_ = now + StackRequest::kAnswerTimeout;
  return std::nullopt;
}

// The rank that asks its loader longest keeps the others waiting; where none asks, one may wait for
// another that has no more batches.
const HangWatch::Trainer* HangWatch::find_root(const std::vector<Trainer>& trainers, Nanos now) {
  const Trainer* asking = nullptr;
  const Trainer* without = nullptr;
  for (const Trainer& trainer : trainers) {
    const hang::ProgressTracker& movement = trainer.process->movement();
    if (trainer.ended || movement.last() == 0) continue;
    if (movement.asking_since() != 0) {
      if (asking == nullptr || movement.last() < asking->process->movement().last())
        asking = &trainer;
    } else if (now - movement.last() > movement.patience(least_) &&
               is_without_a_rank(trainer, trainers)) {
      without = &trainer;
    }
  }
  if (asking != nullptr) return hangs(*asking, now) ? asking : nullptr;
  return without;
}

bool HangWatch::is_without_a_rank(const Trainer& waiting,
                                  const std::vector<Trainer>& trainers) const {
  const hang::ProgressTracker& own = waiting.process->movement();
  return std::any_of(trainers.begin(), trainers.end(), [&](const Trainer& other) {
    return waiting.rank >= 0 && other.rank >= 0 &&
           hang::is_left_alone(own.current(), other.process->movement().finished());
  });
}

// Compares two snapshots of the processes that the rank waits for, half of its patience apart.
bool HangWatch::hangs(const Trainer& asking, Nanos now) {
  const hang::ProgressTracker& movement = asking.process->movement();
  const Nanos patience = movement.patience(least_);
  if (now - movement.last() < patience / 2) return false;
  if (suspicion_.standing != standing_of(asking)) {
    suspicion_ = {standing_of(asking), movement.last(), now, signs_for(job_, asking), false};
    return false;
  }
  if (now - suspicion_.moved_at < patience || now - suspicion_.at < patience / 2) return false;
  return is_still(signs_for(job_, asking), patience, now);
}

bool HangWatch::is_still(std::map<pid_t, hang::Signs> signs, Nanos patience, Nanos now) {
  bool has_moved = false, is_busy = false;
  for (const auto& [pid, sign] : signs) {
    const auto before = suspicion_.signs.find(pid);
    const bool is_new = before == suspicion_.signs.end();
    has_moved |= is_new || sign.has_moved_since(before->second);
    is_busy |= !is_new && sign.was_busy_since(before->second, now - suspicion_.at);
  }
  suspicion_.signs = std::move(signs);
  suspicion_.at = now;
  suspicion_.is_busy = is_busy;
  if (has_moved) suspicion_.moved_at = now;
  return !has_moved && (!is_busy || now - suspicion_.moved_at > kBusyTimes * patience);
}

std::optional<hang::HangReport> HangWatch::report(const std::vector<Trainer>& trainers, Nanos now) {
  const StackRequest answers = std::move(*std::exchange(request_, std::nullopt));
  const auto root = std::find_if(trainers.begin(), trainers.end(), [&](const Trainer& trainer) {
    return standing_of(trainer) == root_;
  });
  if (root == trainers.end() || root->ended) return std::nullopt;
  told_ = root_;
  hang::HangFacts facts = take_job_snapshot(job_, *root, answers, now);
  facts.is_busy = suspicion_.standing == root_ && suspicion_.is_busy;
  return report_of(facts);
}

std::optional<Nanos> HangWatch::goes_on() {
  if (!told_) return std::nullopt;
  for (const Trainer& trainer : job_.training.trainers()) {
    if (trainer.pid != told_->trainer) continue;
    const Nanos last = trainer.process->movement().last();
    if (trainer.ended) told_.reset();
    if (trainer.ended || last == told_->last) return std::nullopt;
    return last - std::exchange(told_, std::nullopt)->last;
  }
  return std::nullopt;
}

}  // namespace loaderscope::guest
