#include <algorithm>
#include <exception>
#include <optional>
#include <vector>

#include "base/fifo.h"
#include "record/rank_folder.h"
#include "record/recorder.h"
#include "record/running_account.h"

namespace loaderscope {

struct StepToFold {
  StepEvents events;
  Nanos moved_by = 0;
};

// A step of all ranks, from when it is known whom they waited for until each has been folded.
struct BarrierStep {
  std::size_t last = 0;  // the rank
  bool has_come = false;
  StepToFold its{};
  StepView slowest{};
  std::vector<Span> its_worker{};  // spans of `slowest`; a copy, as the rank continues meanwhile
  std::size_t folded = 0;          // ranks
  std::exception_ptr failure{};    // the others end this step too
};

struct Folder::Impl {
  FoldOptions options;
  StepObserver* step_observer;  // null: there is none
  std::vector<RankFolder> ranks;
  // Steps of ranks that wait at a barrier, while it is not known which rank they waited for.
  std::vector<Fifo<StepToFold>> waiting;
  std::size_t ranks_waiting = 0;  // number of ranks with a waiting step
  std::optional<BarrierStep> together;

  std::vector<Span> its_worker;  // buffer for the view of a rank, kept to reuse its memory

  explicit Impl(const FoldOptions& given)
      : options(given),
        step_observer(dynamic_cast<StepObserver*>(given.observer)),
        waiting(static_cast<std::size_t>(given.ranks), Fifo<StepToFold>(1)) {
    const FoldOptions each = share_of_one_rank(given);
    ranks.reserve(waiting.size());
    for (std::int32_t rank = 0; rank < given.ranks; ++rank) ranks.emplace_back(each, rank);
  }

  // The memory is that of all ranks together.
  static FoldOptions share_of_one_rank(FoldOptions options) {
    constexpr Bytes kMinRows =
        Bytes{1} << 20;  // below, a thousand ranks would need as many spill files at once
    options.exemplar_memory /= options.ranks;
    options.reservoir_rows = (options.reservoir_rows + options.ranks - 1) / options.ranks;
    const Bytes rows = options.step_row_memory / options.ranks;
    options.step_row_memory = std::max(rows, std::min(options.step_row_memory, kMinRows));
    return options;
  }

  bool has_barrier() const { return options.sync_ranks && ranks.size() > 1; }
  bool all_ranks_wait() const { return ranks_waiting == ranks.size(); }

  void wait(std::size_t rank, const StepToFold& step) {
    if (waiting[rank].empty()) ++ranks_waiting;
    waiting[rank].push_slot() = step;
  }

  void no_longer_waits(std::size_t rank) {
    waiting[rank].pop_front();
    if (waiting[rank].empty()) --ranks_waiting;
  }

  // Brings the times of the step into order. The rank that all others waited for: the last to be
  // ready, of equals the first.
  std::size_t order_and_find_straggler() {
    std::size_t last = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      StepToFold& next = waiting[rank].front();
      next.moved_by = ranks[rank].put_in_order(next.events);
      if (next.events.ready > waiting[last].front().events.ready) last = rank;
    }
    return last;
  }

  void fold(std::size_t rank, StepToFold& step, const StepView* straggler,
            const RankFolder* slowest) {
    RankFolder& folder = ranks[rank];
    folder.begin_step(step.events, step.moved_by);
    end_step(rank, folder.view(its_worker), straggler, slowest);
  }

  void end_step(std::size_t rank, const StepView& own, const StepView* straggler,
                const RankFolder* slowest) {
    const StepRow row = ranks[rank].end_step(own, straggler, slowest);
    if (step_observer != nullptr) step_observer->booked(static_cast<std::int32_t>(rank), row);
  }

  // Folds the steps that came before the last one.
  void last_has_come(const StepToFold& step) {
    BarrierStep& now = *together;
    const std::size_t last = now.last;
    now.has_come = true;
    now.its = step;
    ranks[last].begin_step(now.its.events, now.its.moved_by);
    now.slowest = ranks[last].view(now.its_worker);
    for (std::size_t rank = 0; ranks_waiting > 0 && rank < ranks.size(); ++rank) {
      if (rank == last || waiting[rank].empty()) continue;
      StepToFold its_step = waiting[rank].front();
      no_longer_waits(rank);
      fold_other(rank, its_step);
    }
  }

  void fold_other(std::size_t rank, StepToFold& step) {
    try {
      fold(rank, step, &together->slowest, &ranks[together->last]);
    } catch (...) {
      together->failure = std::current_exception();
    }
    end_once_all_are_folded();
  }

  // The straggler forgets its spans only after the others have looked at them.
  void end_once_all_are_folded() {
    if (++together->folded + 1 < ranks.size()) return;
    try {
      end_step(together->last, together->slowest, nullptr, nullptr);
    } catch (...) {
      together->failure = std::current_exception();
    }
    const std::exception_ptr failure = together->failure;
    together.reset();
    if (failure) std::rethrow_exception(failure);
  }

  void fold_together() {
    const std::size_t last = order_and_find_straggler();
    together.emplace().last = last;
    const StepToFold step = waiting[last].front();
    no_longer_waits(last);
    last_has_come(step);
  }
};

Folder::Folder(const FoldOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Folder::~Folder() = default;

void Folder::first_ask(std::int32_t rank, Nanos at) {
  if (EventObserver* observer = impl_->options.observer) observer->first_ask(rank, at);
  impl_->ranks[static_cast<std::size_t>(rank)].first_ask(at);
}

void Folder::span(std::int32_t rank, std::int32_t worker, const Span& span) {
  if (EventObserver* observer = impl_->options.observer) observer->span(rank, worker, span);
  impl_->ranks[static_cast<std::size_t>(rank)].span(worker, span);
}

void Folder::deliverable(std::int32_t rank, std::int64_t batch, Nanos at) {
  if (EventObserver* observer = impl_->options.observer) observer->deliverable(rank, batch, at);
  impl_->ranks[static_cast<std::size_t>(rank)].deliverable(batch, at);
}

void Folder::step(std::int32_t rank, const StepEvents& events) {
  Impl& impl = *impl_;
  if (impl.options.observer) impl.options.observer->step(rank, events);
  const auto index = static_cast<std::size_t>(rank);
  StepToFold step{events};
  if (!impl.has_barrier()) {
    impl.fold(index, step, nullptr, nullptr);
  } else if (!impl.together) {
    impl.wait(index, step);
    while (impl.all_ranks_wait()) impl.fold_together();
  } else if (index == impl.together->last) {
    impl.last_has_come(step);
  } else if (impl.together->has_come) {
    impl.fold_other(index, step);
  } else {
    impl.wait(index, step);
  }
}

void Folder::all_wait_for(std::int32_t last) {
  if (impl_->has_barrier()) impl_->together.emplace().last = static_cast<std::size_t>(last);
}

void Folder::close(std::int32_t rank) { impl_->ranks[static_cast<std::size_t>(rank)].close(); }

std::vector<RankRecord> Folder::finish() {
  std::vector<RankRecord> records;
  for (RankFolder& rank : impl_->ranks) records.push_back(rank.finish());
  return records;
}

std::int64_t Folder::spans_held() const {
  std::int64_t held = 0;
  for (const RankFolder& rank : impl_->ranks) held += rank.spans_held();
  return held;
}

}  // namespace loaderscope
