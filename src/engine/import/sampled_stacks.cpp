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

Activity SampledStack::activity() const {
  if (is_empty_) return Activity::unknown;
  if ((all_ & kNext) != 0) {
    if ((all_ & kPin) != 0) return Activity::pinning;
    return makes_ ? Activity::making : Activity::waiting;
  }
  if ((all_ & kIter) != 0) return Activity::starting;
  return (all_ & kImport) != 0 ? Activity::importing : Activity::own;
}

SampleKind SampledStack::kind() const {
  return {activity(), (all_ & kWorker) != 0, (all_ & kFeeder) != 0, (leaf_ & kWaits) != 0};
}

bool SampledStack::is_of_main_thread() const { return (all_ & kThread) == 0; }

namespace {

bool is_loaders(Activity activity) {
  return activity == Activity::waiting || activity == Activity::making ||
         activity == Activity::pinning || activity == Activity::starting;
}

// True for the work of a training thread: not for imports or samples without a frame.
bool counts(Activity activity) { return is_loaders(activity) || activity == Activity::own; }

}  // namespace

void SampleKeeper::add(const std::string& thread, const SampleKind& kind, Nanos length,
                       std::int64_t samples) {
  constexpr std::size_t kMaxThreads = 65'536;
  constexpr std::int64_t kMaxPieces = 4'000'000;
  if (threads_.size() >= kMaxThreads && !threads_.contains(thread))
    throw RunError(path_ + ": has more threads than any job", "give what a sampler wrote");
  Thread& counted = threads_[thread];
  const Activity activity = kind.activity;
  that_wait_ += kind.waits ? samples : 0;
  counted.loader_samples += is_loaders(activity) ? samples : 0;
  counted.worker_samples += kind.is_of_worker ? samples : 0;
  counted.feeder_samples += kind.is_of_feeder ? samples : 0;
  counted.waiting_samples += activity == Activity::waiting && kind.waits ? samples : 0;
  if (counted.pieces.empty() || counted.pieces.back().activity != activity) {
    if (++pieces_ > kMaxPieces)
      throw RunError(path_ + ": has more samples than can be held", "record a shorter time");
    counted.pieces.push_back({activity});
  }
  counted.pieces.back().length += length;
  counted.pieces.back().samples += samples;
}

const SampleKeeper::Thread& SampleKeeper::training_thread() const {
  const Thread* most = nullptr;
  for (const auto& [name, thread] : threads_)
    if (thread.worker_samples == 0 &&
        (most == nullptr || thread.loader_samples > most->loader_samples))
      most = &thread;
  if (most == nullptr || most->loader_samples == 0)
    throw RunError(path_ + ": cannot answer, as no sample is in a DataLoader's next",
                   "record the process that trains, with all of its threads and also those that "
                   "wait (py-spy record --idle)");
  return *most;
}

// In order: from the first ask to the last, so that neither the start nor the end is training.
std::pair<std::size_t, std::size_t> SampleKeeper::training_window(const Thread& thread,
                                                                  bool in_order) {
  if (!in_order) return {0, thread.pieces.size()};
  const auto is_in_loader = [](const Piece& piece) { return is_loaders(piece.activity); };
  const auto first = std::find_if(thread.pieces.begin(), thread.pieces.end(), is_in_loader);
  const auto last = std::find_if(thread.pieces.rbegin(), thread.pieces.rend(), is_in_loader);
  return {static_cast<std::size_t>(first - thread.pieces.begin()),
          static_cast<std::size_t>(last.base() - thread.pieces.begin())};
}

// Samplers may leave out threads that wait, and no file says whether they did. Feeders of queues
// hardly do anything but wait. If the sampler keeps them, a feeder is in as many samples as the
// training thread. Without a feeder, a wait for workers must end in a function that waits.
bool SampleKeeper::records_waits(const Thread& thread, const SampledShares& shares) const {
  std::int64_t most_feeder = 0;
  for (const auto& [name, other] : threads_)
    most_feeder = std::max(most_feeder, other.feeder_samples);
  const std::int64_t waiting = shares.counts[static_cast<std::size_t>(Activity::waiting)];
  if (most_feeder > 0) return most_feeder * 2 >= shares.all;
  return waiting > 0 && thread.waiting_samples * 2 >= waiting;
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
  const auto [begin, end] = training_window(thread, in_order);
  for (std::size_t i = begin; i < end; ++i) {
    const Piece& piece = thread.pieces[i];
    if (!counts(piece.activity) || piece.length <= 0) continue;
    if (piece.length > kMaxLength - at)
      throw RunError(path_ + ": its samples add up to more than 9 years",
                     "give what a sampler wrote");
    HostSpan span{at, at + piece.length};
    span.kind = is_loaders(piece.activity) ? HostKind::loader_wait : HostKind::operation;
    keeper.add(process, span);
    at += piece.length;
    shares.counts[static_cast<std::size_t>(piece.activity)] += piece.samples;
    shares.all += piece.samples;
  }
  const bool makes_itself = shares.counts[static_cast<std::size_t>(Activity::making)] > 0;
  if (!makes_itself && !records_waits(thread, shares))
    throw RunError(path_ +
                       ": cannot answer, as its samples leave out threads that wait, and so every "
                       "wait for the DataLoader",
                   "record them too (py-spy record --idle, profiling.sampling --mode wall)");
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
