#include "engine/model/simulated_machine.h"

#include <algorithm>
#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope::model {
namespace {

constexpr Nanos kEndOfTime = Nanos{1} << 62;  // 146 years

std::vector<SharedServer> cores_of_hosts(const LoaderPlan& plan, std::size_t first,
                                         std::size_t end) {
  std::vector<SharedServer> hosts;
  for (std::size_t host = first; host < end; ++host)
    hosts.emplace_back(plan.cores.per_host[host], plan.config.declared.core_scaling,
                       plan.cores.other_threads, plan.cores.compute_threads);
  return hosts;
}

}  // namespace

void check_time(Nanos at) {
  if (at > kEndOfTime) {
    throw RunError("model: virtual time passes 146 years",
                   "declare smaller costs or measure fewer steps");
  }
}

SimulatedMachine::SimulatedMachine(const LoaderPlan& plan, std::size_t first_host,
                                   std::size_t end_host)
    : plan_(plan),
      first_host_(first_host),
      cores_(cores_of_hosts(plan, first_host, end_host)),
      storage_link_(plan.storage.streams, 1),
      decode_hosts_(1, 1) {}

void SimulatedMachine::wake_at(Nanos at, std::uint64_t who) {
  check_time(at);
  events_.push_back({at, who});
  std::push_heap(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.who > b.who;
  });
}

void SimulatedMachine::begin(std::uint64_t who, const StageTime& time, ActiveWork& work) {
  work = {now_, host_index(who), time.transfers, time.remote_cpu, time.cpu, time.threads};
  const bool alone =
      plan_.cores.exclusive && !plan_.storage.shared && !plan_.cores.decodes_remotely;
  if (alone) {
    // The work has no competitors, so its end is known.
    if (time.cpu > 0) work.cpu_begin = now_ + time.waits + time.transfers;
    work.transfer_left = work.remote_cpu_left = work.cpu_left = 0;
    wake_at(now_ + time.wall(), who);
    return;
  }
  if (time.waits == 0 && work.parts_left()) {
    begin_part(who, work);
  } else {
    wake_at(now_ + time.waits, who);
  }
  if (work.parts_left()) unfinished_[who] = &work;
}

// The next of its parts: the transfer, then the work of other hosts, then that on a core.
void SimulatedMachine::begin_part(std::uint64_t who, ActiveWork& work) {
  if (work.transfer_left > 0) {
    storage_link_.add(now_, who, std::exchange(work.transfer_left, 0));
    return;
  }
  if (work.remote_cpu_left > 0) {
    decode_hosts_.add(now_, who, std::exchange(work.remote_cpu_left, 0));
    return;
  }
  work.cpu_begin = now_;
  if (plan_.cores.exclusive) {
    wake_at(now_ + std::exchange(work.cpu_left, 0), who);
    return;
  }
  work.waited = cores_.waited(work.host, now_);
  cores_.add(work.host, now_, who, std::exchange(work.cpu_left, 0), work.threads);
}

// Returns true if the work of `who`, of which a part has just ended, has another part.
bool SimulatedMachine::continues(std::uint64_t who) {
  if (unfinished_.empty()) return false;
  const auto found = unfinished_.find(who);
  if (found == unfinished_.end()) return false;
  ActiveWork& work = *found->second;
  begin_part(who, work);
  if (!work.parts_left()) unfinished_.erase(found);
  return true;
}

Interval SimulatedMachine::end(const ActiveWork& work) {
  if (work.cpu_begin == kNever) return {work.begin, now_, 0, 0};
  const Nanos wall = now_ - work.cpu_begin;
  if (plan_.cores.exclusive) return {work.begin, now_, wall, 0};
  const Nanos queued = std::clamp<Nanos>(cores_.waited(work.host, now_) - work.waited, 0, wall);
  return {work.begin, now_, wall - queued, queued};
}

void SimulatedMachine::begin_read(std::uint64_t who, Read& read) {
  const std::int64_t places = plan_.storage.concurrency;
  if (places > 0 && reads_in_storage_ >= places) {
    read.phase = Read::Phase::waiting;
    waiting_reads_.push_back({who, &read});
    return;
  }
  enter_storage(who, read);
}

void SimulatedMachine::enter_storage(std::uint64_t who, Read& read) {
  ++reads_in_storage_;
  read.phase = Read::Phase::latency;
  wake_at(now_ + plan_.storage.latency + read.extra, who);
}

bool SimulatedMachine::continue_read(std::uint64_t who, Read& read) {
  const double bandwidth = plan_.storage.bandwidth;
  if (read.phase == Read::Phase::latency && bandwidth > 0) {
    read.phase = Read::Phase::transfer;
    storage_link_.add(now_, who, transfer_time(read.bytes, bandwidth));
    return false;
  }
  read.phase = Read::Phase::none;
  leave_storage();
  return true;
}

void SimulatedMachine::leave_storage() {
  --reads_in_storage_;
  if (waiting_reads_.empty()) return;
  const WaitingRead next = waiting_reads_.front();
  waiting_reads_.pop_front();
  enter_storage(next.who, *next.read);
}

bool SimulatedMachine::next(std::uint64_t& who) {
  do {
    if (!next_end(who)) return false;
  } while (continues(who));
  return true;
}

bool SimulatedMachine::next_end(std::uint64_t& who) {
  const Nanos timer = events_.empty() ? kNever : events_.front().at;
  const Nanos earliest =
      std::min({timer, cores_.next_end(), storage_link_.next_end(), decode_hosts_.next_end()});
  if (earliest == kNever) return false;
  check_time(earliest);

  // Chooses the smallest `who` among ends in the same ns.
  who = timer == earliest ? events_.front().who : ~std::uint64_t{0};
  SharedServer* server = nullptr;
  const bool is_core = cores_.next_end() == earliest && cores_.next_who() < who;
  if (is_core) who = cores_.next_who();
  for (SharedServer* candidate : {&storage_link_, &decode_hosts_}) {
    if (candidate->next_end() != earliest || candidate->next_who() >= who) continue;
    server = candidate;
    who = candidate->next_who();
  }
  now_ = earliest;
  if (server != nullptr) {
    server->end_next(now_);
    return true;
  }
  if (is_core) {
    cores_.end_next(now_);
    return true;
  }
  std::pop_heap(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.who > b.who;
  });
  events_.pop_back();
  return true;
}

}  // namespace loaderscope::model
