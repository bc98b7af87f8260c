#include "engine/import/sampled_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "loaderscope/errors.h"

namespace loaderscope::traces {
namespace {

constexpr FrameMarks kNext = 1, kIter = 2, kFetch = 4, kPin = 8, kWorker = 16, kImport = 32,
                     kThread = 64, kWaits = 128, kFeeder = 256, kAny = 512;

std::string_view base_name(std::string_view file) { return file.substr(file.rfind('/') + 1); }

// Samplers name functions with their classes or without.
std::string_view without_class(std::string_view function) {
  return function.substr(function.rfind('.') + 1);
}

// Folders distinguish a user's own dataloader.py, if the sampler gives them.
bool is_file(std::string_view file, std::string_view folder, std::string_view base) {
  if (base_name(file) != base) return false;
  return file == base || file.find(folder) != file.npos;
}

}  // namespace

FrameMarks marks_of_frame(std::string_view function, std::string_view file) {
  function = without_class(function);
  FrameMarks marks = kAny;
  if (is_file(file, "torch/utils/data/", "dataloader.py")) {
    if (function == "__next__") marks |= kNext;
    if (function == "__iter__") marks |= kIter;
  }
  if (is_file(file, "torch/utils/data/", "fetch.py") && function == "fetch") marks |= kFetch;
  if (is_file(file, "torch/utils/data/", "pin_memory.py")) marks |= kPin;
  if (is_file(file, "torch/utils/data/", "worker.py") && function == "_worker_loop")
    marks |= kWorker;
  if (function == "_find_and_load" && file.find("importlib") != file.npos) marks |= kImport;
  if (base_name(file) == "threading.py" && function == "_bootstrap") marks |= kThread;
  if (base_name(file) == "queues.py" && function == "_feed") marks |= kFeeder;
  constexpr std::string_view kThatWait[] = {"threading.py", "selectors.py", "connection.py",
                                            "popen_fork.py", "synchronize.py"};
  if (std::ranges::find(kThatWait, base_name(file)) != std::end(kThatWait)) marks |= kWaits;
  return marks;
}

void SampledStack::add(FrameMarks frame) {
  makes_ = makes_ || ((all_ & kNext) != 0 && (frame & kFetch) != 0);
  all_ = static_cast<FrameMarks>(all_ | frame);
  leaf_ = frame;
  is_empty_ = false;
}

Stand SampledStack::stand() const {
  if (is_empty_) return Stand::unknown;
  if ((all_ & kNext) != 0) {
    if ((all_ & kPin) != 0) return Stand::pinning;
    return makes_ ? Stand::making : Stand::waiting;
  }
  if ((all_ & kIter) != 0) return Stand::starting;
  return (all_ & kImport) != 0 ? Stand::importing : Stand::own;
}

SampleKind SampledStack::kind() const {
  return {stand(), (all_ & kWorker) != 0, (all_ & kFeeder) != 0, (leaf_ & kWaits) != 0};
}

bool SampledStack::is_of_main_thread() const { return (all_ & kThread) == 0; }

namespace {

bool is_loaders(Stand stand) {
  return stand == Stand::waiting || stand == Stand::making || stand == Stand::pinning ||
         stand == Stand::starting;
}

// True for the work of a training thread: not for imports or samples without a frame.
bool counts(Stand stand) { return is_loaders(stand) || stand == Stand::own; }

}  // namespace

void SampleKeeper::add(const std::string& thread, const SampleKind& kind, Nanos length,
                       std::int64_t samples) {
  constexpr std::size_t kMaxThreads = 65'536;
  constexpr std::int64_t kMaxPieces = 4'000'000;
  if (threads_.size() >= kMaxThreads && !threads_.contains(thread))
    throw RunError(path_ + ": has more threads than any job; give what a sampler wrote");
  Thread& of = threads_[thread];
  const Stand stand = kind.stand;
  that_wait_ += kind.waits ? samples : 0;
  of.of_loader += is_loaders(stand) ? samples : 0;
  of.of_worker += kind.is_of_worker ? samples : 0;
  of.of_feeder += kind.is_of_feeder ? samples : 0;
  of.in_waits += stand == Stand::waiting && kind.waits ? samples : 0;
  if (of.pieces.empty() || of.pieces.back().stand != stand) {
    if (++pieces_ > kMaxPieces)
      throw RunError(path_ + ": has more samples than can be held; record a shorter time");
    of.pieces.push_back({stand});
  }
  of.pieces.back().length += length;
  of.pieces.back().samples += samples;
}

const SampleKeeper::Thread& SampleKeeper::training_thread() const {
  const Thread* most = nullptr;
  for (const auto& [name, thread] : threads_)
    if (thread.of_worker == 0 && (most == nullptr || thread.of_loader > most->of_loader))
      most = &thread;
  if (most == nullptr || most->of_loader == 0)
    throw RunError(
        path_ +
        ": cannot answer: no sample stands in a DataLoader's next. That is no proof that nothing "
        "waited: record the process that trains, all of its threads, and those that wait (py-spy "
        "record --idle)");
  return *most;
}

// In order: from the first ask to the last, so that neither the start nor the end is training.
std::pair<std::size_t, std::size_t> SampleKeeper::window_of(const Thread& thread, bool in_order) {
  if (!in_order) return {0, thread.pieces.size()};
  const auto of_loader = [](const Piece& piece) { return is_loaders(piece.stand); };
  const auto first = std::find_if(thread.pieces.begin(), thread.pieces.end(), of_loader);
  const auto last = std::find_if(thread.pieces.rbegin(), thread.pieces.rend(), of_loader);
  return {static_cast<std::size_t>(first - thread.pieces.begin()),
          static_cast<std::size_t>(last.base() - thread.pieces.begin())};
}

// Samplers may leave out threads that wait, and no file says whether they did. Feeders of queues
// hardly do anything but wait. If the sampler keeps them, a feeder is in as many samples as the
// training thread. Without a feeder, a wait for workers must end in a function that waits.
bool SampleKeeper::tells_waits(const Thread& thread, const SampledShares& shares) const {
  std::int64_t of_feeder = 0;
  for (const auto& [name, other] : threads_) of_feeder = std::max(of_feeder, other.of_feeder);
  const std::int64_t waiting = shares.of[static_cast<std::size_t>(Stand::waiting)];
  if (of_feeder > 0) return of_feeder * 2 >= shares.all;
  return waiting > 0 && thread.in_waits * 2 >= waiting;
}

void SampleKeeper::finish(TracedRun& run, bool in_order) const {
  constexpr Nanos kMaxLength = Nanos{1} << 58;
  const Thread& thread = training_thread();
  TracedProcess process;
  process.name = "the training thread";
  process.origin = 0;
  process.is_sampled = true;
  SpanKeeper keeper(path_);
  SampledShares shares;
  Nanos at = 0;
  const auto [begin, end] = window_of(thread, in_order);
  for (std::size_t i = begin; i < end; ++i) {
    const Piece& piece = thread.pieces[i];
    if (!counts(piece.stand) || piece.length <= 0) continue;
    if (piece.length > kMaxLength - at)
      throw RunError(path_ +
                     ": its samples add up to more than 9 years; give what a sampler wrote");
    HostSpan span{at, at + piece.length};
    span.kind = is_loaders(piece.stand) ? HostKind::loader_wait : HostKind::operation;
    keeper.add(process, span);
    at += piece.length;
    shares.of[static_cast<std::size_t>(piece.stand)] += piece.samples;
    shares.all += piece.samples;
  }
  const bool makes_itself = shares.of[static_cast<std::size_t>(Stand::making)] > 0;
  if (!makes_itself && !tells_waits(thread, shares))
    throw RunError(
        path_ +
        ": cannot answer: threads that wait are not in its samples, so a wait for the DataLoader "
        "is "
        "in none of them; record them too (py-spy record --idle, profiling.sampling --mode wall)");
  if (makes_itself) process.workers = 0;
  if (makes_itself && that_wait_ == 0)
    run.notes.push_back(
        "no sample is of a thread that waits: if those were left out (py-spy without --idle), what "
        "making a batch waits for is missing here");
  shares.in_order = in_order;
  run.sampled = shares;
  run.has_loader = true;
  run.processes.push_back(std::move(process));
}

}  // namespace loaderscope::traces
