#include "record/rank_waits.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "record/rows_of_ranks.h"

namespace loaderscope {
namespace {

struct Booked {
  PerCause<Nanos> stall{};
  PerWhy<Nanos> why{};
  DeviceProduction device;
};

Nanos overlap(Nanos begin, Nanos end, Nanos from, Nanos until) {
  return std::max<Nanos>(0, std::min(end, until) - std::max(begin, from));
}

// Takes the end of a row's idle time in blocks, from the last to the first.
class IdleFromItsEnd {
 public:
  explicit IdleFromItsEnd(const StepRow& row) : row_(row), left_(row.stall) {}

  Booked last(Nanos wait) {  // no more than there is
    const Nanos from = row_.compute_begin - wait;
    const Nanos had_batch =
        std::max(row_.made_end > 0 ? row_.made_end : row_.take, row_.idle_begin);
    take_copy_and_launch(std::max(from, had_batch), had_batch);
    Nanos before = std::max<Nanos>(0, had_batch - from);
    const Nanos on_device = row_.made_end > 0 ? take_from_device(before) : 0;
    before -= std::min(before, on_device + booked_copy_);
    const Nanos on_its_way = take_in_parts(before, &IdleFromItsEnd::is_way);
    const Nanos collated = take_in_parts(before - on_its_way, &IdleFromItsEnd::is_collating);
    const Nanos made =
        collated + take_in_parts(before - on_its_way - collated, &IdleFromItsEnd::is_making);
    const Nanos up = take_in_parts(before - on_its_way - made, &IdleFromItsEnd::is_startup);
    label(made + on_device - booked_.stall[Cause::other], up);
    booked_.stall[Cause::launch] +=
        wait - std::accumulate(booked_.stall.begin(), booked_.stall.end(), Nanos{0});
    return booked_;
  }

 private:
  static bool is_startup(Cause cause) { return cause == Cause::startup; }
  static bool is_way(Cause cause) {
    return cause == Cause::transport || cause == Cause::pin || cause == Cause::launch;
  }
  static bool is_collating(Cause cause) { return cause == Cause::collate; }
  static bool is_making(Cause cause) {
    return !is_startup(cause) && !is_way(cause) && !is_collating(cause) && cause != Cause::h2d;
  }

  // Takes the time from `from` on, when the trainer had the batch. The rest of both causes came
  // before.
  void take_copy_and_launch(Nanos from, Nanos had_batch) {
    const auto copied = [&](Nanos since) {
      return overlap(row_.copy_begin, row_.copy_end, since, row_.compute_begin);
    };
    const auto launched = [&](Nanos since) { return row_.compute_begin - since - copied(since); };
    booked_.stall[Cause::h2d] += copied(from);
    booked_.stall[Cause::launch] += launched(from);
    Nanos& launch = left_[Cause::launch];
    launch = std::max<Nanos>(0, launch - launched(had_batch));
  }

  // Takes up to `most` of what the device made, and of the copies before that. Returns the part
  // that it made.
  Nanos take_from_device(Nanos most) {
    const Nanos decoded = std::min(row_.device.decode, left_[Cause::decode]);
    const Nanos augmented = std::min(row_.device.augment, left_[Cause::augment]);
    booked_.device.augment = std::min(most, augmented);
    booked_.device.decode = std::min(most - booked_.device.augment, decoded);
    const Nanos made = booked_.device.stall();
    booked_copy_ = std::min(most - made, left_[Cause::h2d]);
    for (const auto& [cause, taken] :
         {std::pair{Cause::augment, booked_.device.augment},
          std::pair{Cause::decode, booked_.device.decode}, std::pair{Cause::h2d, booked_copy_}}) {
      booked_.stall[cause] += taken;
      left_[cause] -= taken;
    }
    return made;
  }

  // Up to `most` of the causes that `is_one`, each as large a part of it as it is of them.
  Nanos take_in_parts(Nanos most, bool (*is_one)(Cause)) {
    __extension__ typedef __int128 Product;
    Nanos all = 0;
    for (std::size_t i = 0; i < kCauses; ++i)
      if (is_one(static_cast<Cause>(i))) all += left_.at(i);
    const Nanos taken = std::min(most, all);
    Nanos weighed = 0, given = 0;
    for (std::size_t i = 0; i < kCauses; ++i) {
      if (all == 0 || !is_one(static_cast<Cause>(i))) continue;
      weighed += left_.at(i);
      const auto up_to = static_cast<Nanos>(static_cast<Product>(taken) * weighed / all);
      booked_.stall.at(i) += up_to - given;
      given = up_to;
    }
    return taken;
  }

  void label(Nanos made, Nanos started) {
    booked_.why[Why::epoch] += started;
    if (row_.first_of_epoch) {
      booked_.why[Why::epoch] += made;
      return;
    }
    const Nanos depth = std::min(row_.why[Why::depth], made);
    booked_.why[Why::depth] += depth;
    booked_.why[row_.why[Why::latency] > 0 ? Why::latency : Why::capacity] += made - depth;
  }

  const StepRow& row_;
  PerCause<Nanos> left_;   // not taken
  Nanos booked_copy_ = 0;  // copies of the device
  Booked booked_;
};

void book_wait_for(const StepRow& slowest, Nanos wait, StepRow& row) {
  // The rank waits for nothing else while the slowest rank computes its previous step.
  const Nanos moved = std::min({wait, row.stall[Cause::launch], slowest.idle()});
  if (moved <= 0) return;
  const Booked booked = IdleFromItsEnd(slowest).last(moved);
  row.stall[Cause::launch] -= moved;
  for (std::size_t i = 0; i < kCauses; ++i) row.stall.at(i) += booked.stall.at(i);
  for (std::size_t i = 0; i < kWhys; ++i) row.why.at(i) += booked.why.at(i);
  row.device.decode += booked.device.decode;
  row.device.augment += booked.device.augment;
}

void book_wait_for_missing(Nanos wait, StepRow& row) {
  const Nanos moved = std::min(wait, row.stall[Cause::launch]);
  row.stall[Cause::launch] -= moved;
  row.stall[Cause::other] += moved;
}

// The ranks of one process.
struct Process {
  std::size_t first = 0, end = 0;
};

std::vector<Process> list_processes(const RunRecord& job) {
  std::vector<Process> processes;
  std::size_t first = 0;
  for (const HostRecord& host : job.hosts) {
    const std::size_t end = first + static_cast<std::size_t>(host.ranks);
    processes.push_back({first, end});
    first = end;
  }
  return processes;
}

// Returns the wait that all ranks of the process share. It is a wait for another process.
Nanos wait_for_others(const Process& process, const RowOfEachRank& rows) {
  Nanos least = kNever;
  for (std::size_t rank = process.first; rank < process.end; ++rank)
    least = std::min(least, rows[rank].waiting_for_ranks);
  return least == kNever ? 0 : least;
}

// Returns the row of the rank that waited least; the first of equals.
const StepRow& find_slowest(const RowOfEachRank& rows) {
  return *std::min_element(rows.begin(), rows.end(), [](const StepRow& a, const StepRow& b) {
    return a.waiting_for_ranks < b.waiting_for_ranks;
  });
}

}  // namespace

void book_process_waits(RunRecord& job) {
  if (job.hosts.empty() || job.ranks.empty()) return;
  const std::vector<Process> processes = list_processes(job);
  std::vector<bool> waited(job.ranks.size());
  for_each_step(job.ranks, {}, [&](RowOfEachRank& rows) {
    const Nanos for_missing = find_slowest(rows).waiting_for_ranks;
    StepRow slowest = find_slowest(rows);
    slowest.compute_begin -= for_missing;
    slowest.stall[Cause::launch] -= for_missing;
    bool changed = false;
    for (const Process& process : processes) {
      const Nanos wait = wait_for_others(process, rows);
      if (wait <= 0) continue;
      changed = true;
      for (std::size_t rank = process.first; rank < process.end; ++rank) {
        book_wait_for_missing(for_missing, rows[rank]);
        book_wait_for(slowest, wait - for_missing, rows[rank]);
        waited[rank] = true;
        if (Exemplar* const exemplar = find_exemplar(job.ranks[rank], rows[rank].step))
          exemplar->row = rows[rank];
      }
    }
    return changed;
  });
  for (std::size_t rank = 0; rank < waited.size(); ++rank)
    if (waited[rank]) job.ranks[rank].critical_path.reset();
}

}  // namespace loaderscope
