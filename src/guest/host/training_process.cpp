#include "guest/host/training_process.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/thread_meter.h"

namespace loaderscope::guest {
namespace {

// Limit per process. Loaders beyond it are not followed.
constexpr std::size_t kMaxLoaders = 16;
// Limit on reports that wait for an earlier one. Far fewer come between two looks.
constexpr std::size_t kMaxWaiting = std::size_t{1} << 16;
constexpr std::size_t kMaxGpuRecords = std::size_t{1} << 20;

// Returns true if `later` must be measured instead of `earlier`.
bool goes_before(const LoaderHistory& later, const LoaderHistory& earlier) {
  constexpr Nanos kFarMore = 2;
  constexpr Nanos kPartOfLoop = 100;
  if (later.with_gradients() != earlier.with_gradients()) return later.with_gradients();
  const LoopTime &late = later.time(), &early = earlier.time();
  if (late.looped() > kFarMore * early.looped()) return true;
  if (early.looped() > kFarMore * late.looped()) return false;
  return late.waited() > kFarMore * early.waited() + late.looped() / kPartOfLoop;
}

// Takes the reports of a ring. Returns false at an impossible report, and leaves out the reports
// after it.
template <class Report, class Taker>
bool take_believed(SharedRing<Report>& ring, const Taker& take) {
  Nanos now = monotonic_now();
  bool believed = true;
  const bool whole = ring.take_all([&](Report report) {
    believed = believed && (is_possible(report, now) || is_possible(report, now = monotonic_now()));
    if (believed) take(report);
  });
  return whole && believed;
}

}  // namespace

// Reads the facts first: the spans of a finished batch have been written before the fact.
bool TrainingProcess::read(Page& page, const Writer& writer) {
  Process& process = processes_.try_emplace(&page, page).first->second;
  process.writer = writer;
  PageRings& rings = process.rings;
  bool believed = take_believed(rings.facts, [&](const GuestEvent& fact) {
    movement_.note(fact);
    process.facts.push_back(fact);
  });
  believed &= take_believed(
      rings.spans, [&](const ThreadLog::Entry& entry) { process.spans.push_back(entry.span); });
  if (!watches_gpu_) return believed;
  // records before the first loader
  if (gpu_records_.size() > kMaxGpuRecords) gpu_records_.clear();
  return take_believed(rings.gpu,
                       [&](const GpuRecord& record) { gpu_records_.push_back(record); }) &&
         believed;
}

void TrainingProcess::watch_gpu() {
  watches_gpu_ = true;
  for (auto& [number, history] : histories_) history.watch_gpu();
}

void TrainingProcess::watch_no_gpu() {
  for (auto& [number, history] : histories_) history.watch_no_gpu();
}

// Gives kernels to all loaders: they cannot be assigned to the loader of their batch.
void TrainingProcess::take_gpu_records() {
  if (histories_.empty()) return;
  for (const GpuRecord& record : gpu_records_) {
    for (auto& [number, history] : histories_) history.gpu_did(record);
  }
  gpu_records_.clear();
}

bool TrainingProcess::release(const Page& page) {
  const auto found = processes_.find(&page);
  if (found == processes_.end()) return true;
  const Process& process = found->second;
  if (!process.facts.empty() || !process.spans.empty()) return false;
  processes_.erase(found);
  return true;
}

// The trainer has joined first, and says where an epoch's batches begin.
void TrainingProcess::advance(bool no_more) {
  for (auto& [page, process] : processes_) {
    if (process.writer.iterator < 0) take_facts(process);
  }
  for (auto& [page, process] : processes_) {
    if (process.writer.iterator >= 0) take_facts(process);
    take_spans(process);
  }
  take_gpu_records();
  for (auto& [number, history] : histories_) history.advance(no_more);
}

// Takes reports until one needs an earlier report that has not come. If too many wait after it, the
// earlier one will not come, and the report is left out.
template <class Report, class Taker>
void TrainingProcess::take_in_order(std::deque<Report>& reports, const Taker& take) {
  while (!reports.empty()) {
    const bool taken = take(reports.front());
    if (!taken && reports.size() <= kMaxWaiting) return;
    left_out_ += !taken;
    reports.pop_front();
  }
}

void TrainingProcess::take_facts(Process& process) {
  take_in_order(process.facts, [&](const GuestEvent& fact) { return take_fact(fact); });
}

// False: what it needs has not come yet.
bool TrainingProcess::take_fact(const GuestEvent& fact) {
  if (fact.kind == GuestEventKind::copied || fact.kind == GuestEventKind::computed) {
    take_device_fact(fact);
    return true;
  }
  if (fact.iterator < 0 || loaders_.has_forgotten(fact.iterator)) return true;
  const LoaderFacts* known = loaders_.find(fact.iterator);
  if (known == nullptr) return false;
  const LoaderFacts& loader = *known;
  LoaderHistory* history = get_history(loader);
  if (history == nullptr) return true;
  if (!history->take_fact(fact, loader)) return false;
  if (const auto wait = history->take_wait()) {
    for (auto& [number, other] : histories_) {
      if (&other != history) other.waited_for(loader.number, *wait);
    }
  }
  const bool takes = fact.kind == GuestEventKind::take || fact.kind == GuestEventKind::replayed;
  if (takes && !trains_itself(given_)) takes_.push_back({history, history->taken() - 1});
  return true;
}

// Finds the batch by its number among all batches that the process has taken.
void TrainingProcess::take_device_fact(GuestEvent fact) {
  while (!takes_.empty() && takes_before_ < fact.count) {
    takes_.pop_front();
    ++takes_before_;
  }
  if (takes_.empty() || takes_before_ != fact.count) return;
  fact.count = takes_.front().step;
  takes_.front().history->take_device_fact(fact);
}

void TrainingProcess::take_spans(Process& process) {
  take_in_order(process.spans, [&](const Span& span) { return take_span(process.writer, span); });
}

bool TrainingProcess::take_span(const Writer& writer, const Span& span) {
  const std::int32_t iterator = span.batch >= 0 ? span_iterator(span) : writer.iterator;
  if (loaders_.has_forgotten(iterator)) return true;
  const LoaderFacts* loader = loaders_.find(iterator);
  if (loader == nullptr) return false;
  LoaderHistory* history = get_history(*loader);
  return history == nullptr || history->take_span(writer.worker, span);
}

LoaderHistory* TrainingProcess::get_history(const LoaderFacts& loader) {
  const auto found = histories_.find(loader.number);
  if (found != histories_.end()) return &found->second;
  if (histories_.size() == kMaxLoaders) return nullptr;
  LoaderHistory& history = histories_.try_emplace(loader.number, given_, loader).first->second;
  if (watches_gpu_) history.watch_gpu();
  return &history;
}

const LoaderHistory* TrainingProcess::measured() const {
  const LoaderHistory* best = nullptr;
  for (const auto& [number, history] : histories_) {
    if (history.taken() == 0) continue;
    if (best == nullptr || goes_before(history, *best)) best = &history;
  }
  return best;
}

LoaderHistory* TrainingProcess::measured() {
  return const_cast<LoaderHistory*>(static_cast<const TrainingProcess*>(this)->measured());
}

std::vector<const LoaderHistory*> TrainingProcess::used() const {
  std::vector<const LoaderHistory*> loaders;
  for (const auto& [number, history] : histories_) {
    if (history.taken() > 0) loaders.push_back(&history);
  }
  return loaders;
}

std::int32_t TrainingProcess::loader_number(std::int32_t iterator) const {
  const LoaderFacts* loader = loader_with(iterator);
  return loader == nullptr ? -1 : loader->number;
}

namespace {

constexpr Nanos kAhead = kSecond;            // the GPU's clock may be, by far less
constexpr Nanos kFarAhead = Nanos{1} << 52;  // a simulated device knows when it will have computed
constexpr Bytes kMaxBytes = Bytes{1} << 40;
constexpr std::int64_t kMaxBatchNumber = std::int64_t{1} << 40;
constexpr std::int32_t kMaxGenerations = std::int32_t{1} << 30;

bool is_in(std::int64_t value, std::int64_t least, std::int64_t most) {
  return value >= least && value <= most;
}

bool is_range(Nanos begin, Nanos end, Nanos latest) {
  return begin >= 0 && begin <= end && end <= latest;
}

}  // namespace

bool is_possible(GuestEvent& fact, Nanos now) {
  if (!is_in(static_cast<int>(fact.kind), 1, static_cast<int>(kFactNames.size()) - 1)) return false;
  const bool is_device_fact =
      fact.kind == GuestEventKind::copied || fact.kind == GuestEventKind::computed;
  const Nanos end = fact.end == 0 ? fact.begin : fact.end;
  if (!is_range(fact.begin, end, now + (is_device_fact ? kFarAhead : kAhead)) ||
      !is_in(fact.cpu, 0, now + kAhead) || !is_in(fact.queued, 0, now + kAhead))
    return false;
  if (!is_in(fact.iterator, -1, kMaxIterators - 1) || !is_in(fact.generation, 0, kMaxGenerations) ||
      !is_in(fact.worker, 0, kMaxWorkers - 1) || !is_in(fact.batch, -1, kMaxBatchNumber))
    return false;
  fact.count = std::clamp<std::int64_t>(fact.count, -1, std::numeric_limits<std::int32_t>::max());
  fact.bytes = std::clamp<Bytes>(fact.bytes, 0, kMaxBytes);
  return true;
}

bool is_possible(ThreadLog::Entry& entry, Nanos now) {
  Span& span = entry.span;
  if (entry.kind != ThreadLog::Kind::span || static_cast<std::size_t>(span.stage) >= kStages)
    return false;
  if (!is_range(span.begin, span.end, now + kAhead) || !is_in(span.cpu, 0, now + kAhead) ||
      !is_in(span.queued, 0, now + kAhead) || span.batch < -1 || span.sample < -1)
    return false;
  span.bytes = std::clamp<Bytes>(span.bytes, 0, kMaxBytes);
  return true;
}

bool is_possible(GpuRecord& record, Nanos now) {
  if (!is_range(record.begin, record.end, now + kAhead)) return false;
  if (!is_in(static_cast<int>(record.kind), 0, static_cast<int>(GpuRecord::Kind::stage)))
    return false;
  if (record.kind == GpuRecord::Kind::stage && !is_on_device(record.made)) return false;
  record.bytes = std::clamp<Bytes>(record.bytes, 0, kMaxBytes);
  return true;
}

IteratorLoaders::Facts IteratorLoaders::shared(const LoaderFacts& loader) {
  constexpr std::size_t kMaxFacts = 1024;
  if (last_facts_.size() >= kMaxFacts && !last_facts_.contains(loader.number)) last_facts_.clear();
  Facts& last = last_facts_[loader.number];
  if (last == nullptr || *last != loader) last = std::make_shared<const LoaderFacts>(loader);
  return last;
}

void IteratorLoaders::add(std::int32_t iterator, const LoaderFacts& loader) {
  if (iterator < 0 || find(iterator) != nullptr || has_forgotten(iterator)) return;
  put(iterator, shared(loader));
  forget();
}

void IteratorLoaders::put(std::int32_t iterator, const Facts& facts) {
  if (iterator > end_) from_.try_emplace(end_, nullptr);
  if (iterator + 1 < end_) {  // the iterator was an unknown one between others
    const Facts after = std::prev(from_.upper_bound(iterator + 1))->second;
    from_.try_emplace(iterator + 1, after);
  }
  end_ = std::max(end_, iterator + 1);
  const auto next = from_.lower_bound(iterator);
  const bool is_same_run = next != from_.begin() && std::prev(next)->second == facts;
  if (is_same_run) {
    from_.erase(iterator);
  } else {
    from_[iterator] = facts;
  }
}

void IteratorLoaders::forget() {
  constexpr std::ptrdiff_t kMax = std::ptrdiff_t{1} << 16;
  if (std::ssize(from_) < kMax) return;
  const auto first = std::next(from_.begin(), kMax / 4);
  const auto last = std::next(first, kMax / 2);
  const std::int32_t begin = first->first;
  forgotten_before_ = last->first;
  from_.erase(first, last);
  from_[begin] = nullptr;
}

const LoaderFacts* IteratorLoaders::find(std::int32_t iterator) const {
  if (iterator < 0 || iterator >= end_) return nullptr;
  const auto next = from_.upper_bound(iterator);
  return next == from_.begin() ? nullptr : std::prev(next)->second.get();
}

}  // namespace loaderscope::guest
