#include <algorithm>
#include <exception>
#include <vector>

#include "base/fifo.h"
#include "record/rank_folder.h"
#include "record/recorder.h"
#include "record/step_observer.h"

namespace loaderscope {

struct Folder::Impl {
  FoldOptions options;
  StepObserver* step_observer;  // null: there is none
  std::vector<RankFolder> ranks;
  struct Waiting {
    StepEvents events;
    Nanos moved_by = 0;
  };
  // With a barrier: steps whose other ranks are not known yet.
  std::vector<Fifo<Waiting>> waiting;
  std::size_t ranks_waiting = 0;  // that have one

  explicit Impl(const FoldOptions& given)
      : options(given),
        step_observer(dynamic_cast<StepObserver*>(given.observer)),
        waiting(static_cast<std::size_t>(given.ranks), Fifo<Waiting>(1)) {
    const FoldOptions each = share_of_one_rank(given);
    ranks.reserve(waiting.size());
    for (std::int32_t rank = 0; rank < given.ranks; ++rank) ranks.emplace_back(each, rank);
  }

  // The memory is that of all ranks together.
  static FoldOptions share_of_one_rank(FoldOptions options) {
    constexpr Bytes kFewestRows =
        Bytes{1} << 20;  // below, a thousand ranks would need as many spill files at once
    options.exemplar_memory /= options.ranks;
    options.reservoir_rows = (options.reservoir_rows + options.ranks - 1) / options.ranks;
    const Bytes rows = options.step_row_memory / options.ranks;
    options.step_row_memory = std::max(rows, std::min(options.step_row_memory, kFewestRows));
    return options;
  }

  bool all_ranks_wait() const { return ranks_waiting == ranks.size(); }

  // Brings the times of the step into order. The rank that all others waited for: the last to be
  // ready, of equals the first.
  std::size_t order_and_find_straggler() {
    std::size_t last = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      Waiting& next = waiting[rank].front();
      next.moved_by = ranks[rank].put_in_order(next.events);
      if (next.events.ready > waiting[last].front().events.ready) last = rank;
    }
    return last;
  }

  void begin_step(std::size_t rank) {
    const Waiting& next = waiting[rank].front();
    ranks[rank].begin_step(next.events, next.moved_by);
    waiting[rank].pop_front();
    if (waiting[rank].empty()) --ranks_waiting;
  }

  void booked(std::size_t rank, const StepRow& row) const {
    if (step_observer != nullptr) step_observer->booked(static_cast<std::int32_t>(rank), row);
  }

  void fold_together() {
    const std::size_t last = order_and_find_straggler();
    begin_step(last);
    const StepView slowest = ranks[last].view();
    std::exception_ptr failure;
    const auto end_step = [&](std::size_t rank) {
      try {
        booked(rank, rank == last
                         ? ranks[rank].end_step(slowest)
                         : ranks[rank].end_step(ranks[rank].view(), &slowest, &ranks[last]));
      } catch (...) {
        failure = std::current_exception();  // the others end this step too
      }
    };
    // The straggler forgets its spans only after the others have looked at them.
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (rank == last) continue;
      begin_step(rank);
      end_step(rank);
    }
    end_step(last);
    if (failure) std::rethrow_exception(failure);
  }
};

Folder::Folder(const FoldOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Folder::~Folder() = default;

void Folder::first_ask(std::int32_t rank, Nanos at) {
  if (FactObserver* observer = impl_->options.observer) observer->first_ask(rank, at);
  impl_->ranks[static_cast<std::size_t>(rank)].first_ask(at);
}

void Folder::span(std::int32_t rank, std::int32_t worker, const Span& span) {
  if (FactObserver* observer = impl_->options.observer) observer->span(rank, worker, span);
  impl_->ranks[static_cast<std::size_t>(rank)].span(worker, span);
}

void Folder::deliverable(std::int32_t rank, std::int64_t batch, Nanos at) {
  if (FactObserver* observer = impl_->options.observer) observer->deliverable(rank, batch, at);
  impl_->ranks[static_cast<std::size_t>(rank)].deliverable(batch, at);
}

void Folder::step(std::int32_t rank, const StepEvents& events) {
  Impl& impl = *impl_;
  if (impl.options.observer) impl.options.observer->step(rank, events);
  const auto index = static_cast<std::size_t>(rank);
  if (!impl.options.sync_ranks || impl.ranks.size() == 1) {
    RankFolder& folder = impl.ranks[index];
    folder.begin_step(events);
    impl.booked(index, folder.end_step(folder.view()));
    return;
  }
  if (impl.waiting[index].empty()) ++impl.ranks_waiting;
  impl.waiting[index].push_back({events});
  while (impl.all_ranks_wait()) impl.fold_together();
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
