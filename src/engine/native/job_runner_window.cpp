// Decides which steps of a rank are folded, and which of them are measured.
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <set>

#include "engine/native/job_runner.h"

namespace loaderscope::native {
namespace {

constexpr std::int64_t kOwnThreads = 2;  // the threads that fold, and that watch for hangs

}  // namespace

// To tools, as soon as it is known that the next step is measured.
void JobRunner::format_window() {
  const Rank& leader = *ranks_.front();
  if (leader.window_open || leader.window.measures(leader.folded)) shown_window_.begin();
}

void JobRunner::fold_steps() {
  if (context_.native.local_ranks.window) asked_window_ = context_.native.local_ranks.window();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = *ranks_[i];
    while (!rank.steps.empty() && may_fold(rank, rank.steps.front().step)) {
      fold(static_cast<std::int32_t>(i), rank.steps.front());
      rank.steps.pop_front();
    }
  }
  if (context_.native.local_ranks.publish_window) publish_window();
}

// With a barrier, all ranks share the window of the job's first rank. That rank decides about a
// step before the others.
bool JobRunner::may_fold(const Rank& rank, std::int64_t step) const {
  if (!follows(rank)) return true;
  const bool has_decided = !context_.native.local_ranks.window && ranks_.front()->done;
  return has_decided || step < window_to_follow().folded;
}

SharedWindow JobRunner::window_to_follow() const {
  if (context_.native.local_ranks.window) return asked_window_;
  const Rank& leader = *ranks_.front();
  return {leader.folded, leader.window.first_measured(), leader.window.ended()};
}

void JobRunner::publish_window() {
  const Rank& leader = *ranks_.front();
  const SharedWindow window{leader.folded, leader.window.first_measured(), leader.window.ended()};
  if (window.folded == published_window_.folded) return;
  published_window_ = window;
  context_.native.local_ranks.publish_window(window);
}

void JobRunner::fold(std::int32_t index, const StepEvents& events) {
  Rank& rank = *ranks_[static_cast<std::size_t>(index)];
  if (rank.done) return;
  const bool follows = this->follows(rank);
  StepEvents counted = events;
  counted.warmup = follows ? events.step < window_to_follow().first_measured
                           : rank.window.is_warmup(events.step, events.compute.end);
  if (!counted.warmup && !rank.window_open) {
    rank.window_open = true;
    if (index == 0) {
      processes_.begins();
    }
    rank.trainer->loader().read_stats();
  }
  if (counted.warmup && index == 0) processes_.continue_warmup();
  recorder_.step(index, counted);
  ++rank.folded;
  if (!counted.warmup) samples_ += events.samples;
  format_window();
  const SharedWindow window = window_to_follow();
  if (follows ? window.ended && rank.folded == window.folded : rank.window.ended()) end_rank(rank);
}

void JobRunner::end_rank(Rank& rank) {
  if (rank.done) return;
  rank.done = true;
  recorder_.close(rank.index);
  if (&rank == ranks_.front().get()) {
    shown_window_.end();
    processes_.ends(kOwnThreads + job_.alive());
  }
  rank.queues = rank.trainer->loader().read_stats();
}

bool JobRunner::all_done() {
  bool done = true;
  for (auto& rank : ranks_) {
    if (rank->input_over && rank->steps.empty()) end_rank(*rank);
    done = done && rank->done;
  }
  return done;
}

bool JobRunner::others_have_ended() const {
  if (!context_.native.local_ranks.has_ended) return false;
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  for (const auto& rank : ranks_) steps = std::min(steps, rank->folded);
  return context_.native.local_ranks.has_ended(steps);
}

// Workers whose parent was killed descend from it no longer.
OtherPrograms ProcessWindow::other_programs_now() const {
  const loaderscope::ProcessTable all = read_processes("/");
  std::set<pid_t> own = process_family(::getpid(), all);
  for (const pid_t worker : processes_().running) own.merge(process_family(worker, all));
  return {all, own};
}

void ProcessWindow::run_begins() {
  programs_before_ = other_programs_now();
  standstills_.emplace();
  may_begin();  // begin of a window without a warm-up
}

void ProcessWindow::may_begin() {
  if (begin_known_) return;
  begin_ = read_process_counters(processes_());
  begin_known_ = true;
}

void ProcessWindow::begins() {
  may_begin();
  memory_.restart();
}

void ProcessWindow::look() { memory_.look(processes_); }

void ProcessWindow::ends(std::int64_t loader_threads) {
  end_ = read_process_counters(processes_());
  other_programs_ = other_programs_now().since(*programs_before_);
  loader_threads_ = loader_threads;
}

std::vector<Metric> ProcessWindow::metrics(const RankRecord& first) const {
  std::vector<Metric> metrics = process_metrics(begin_, end_, memory_);
  metrics.push_back(make_metric(metric::process_loader_threads,
                                "of them, those of the loader and its trainers",
                                static_cast<double>(loader_threads_)));
  const Nanos still = standstills_->within(first.window_begin, first.window_end);
  metrics.push_back(make_metric(metric::host_standstill_s,
                                "of the window, this whole process was stopped or the machine was",
                                seconds(still)));
  return metrics;
}

}  // namespace loaderscope::native
