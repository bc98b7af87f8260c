#include "guest/library/observers.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/thread_meter.h"
#include "guest/library/api.h"
#include "guest/library/gpu_activity.h"
#include "nvtx/library.h"

namespace loaderscope::guest::operators {
namespace {

constexpr std::size_t kMaxRuns = 4096;   // runs kept until the next query
constexpr std::size_t kMaxNames = 1024;  // names of operators
constexpr int kMaxDepth = 32;            // ranges of a thread, one within the other

struct Run {
  Nanos begin = 0, end = 0, cpu = 0;  // `cpu` until it has ended: the process's at its begin
  Stage stage = Stage::opaque;
  const void* thread = nullptr;  // while it runs
};

std::atomic<bool> any_known{false};

struct State {
  std::mutex mutex;
  std::map<std::string, Stage, std::less<>> stages;  // stage of each operator, by name
  std::deque<Run> ended;
  std::vector<Run> running;
};

State*& state() {
  static State* instance = new State;  // threads of others may outlive what is destroyed
  return instance;
}

Nanos process_cpu_now() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return Nanos{used.tv_sec} * kSecond + used.tv_nsec;
}

// "[DALI][CPU op] Run Resize", or by its name in the pipeline without "Run": nothing of others.
std::string_view operator_name(std::string_view range) {
  constexpr std::string_view kBefore = " op] ";
  const auto at = range.find(kBefore);
  if (at == range.npos) return {};
  range.remove_prefix(at + kBefore.size());
  for (const std::string_view verb : {"Run ", "Setup "})
    if (range.starts_with(verb)) return range.substr(verb.size());
  return range;
}

// Returns the stage of what an operator starts on the GPU. "Mixed": its input is in host memory.
std::optional<Stage> stage_on_gpu(std::string_view range, Stage stage) {
  const bool is_on_gpu =
      range.starts_with("[DALI][GPU op] ") || range.starts_with("[DALI][Mixed op] ");
  if (!is_on_gpu || stage == Stage::read) return std::nullopt;
  return stage == Stage::decode ? Stage::gpu_decode : Stage::gpu_augment;
}

void keep(State& all, const Run& run) {
  all.ended.push_back(run);
  if (all.ended.size() > kMaxRuns) all.ended.pop_front();
}

struct Ranges {
  int depth = 0;
  int operator_depth = -1;  // the depth of its range; -1: the thread runs none
  bool marks_gpu = false;   // the operator's work on the GPU has a stage
};
thread_local Ranges ranges;

void begin_range(const char* text) {
  const int depth = ranges.depth++;
  if (ranges.operator_depth >= 0 || depth >= kMaxDepth) return;
  const std::string_view name = operator_name(text);
  if (name.empty()) return;
  std::optional<Stage> on_gpu;
  {
    State& all = *state();
    const std::lock_guard lock(all.mutex);
    const auto known = all.stages.find(name);
    if (known == all.stages.end()) return;
    ranges.operator_depth = depth;
    all.running.push_back({monotonic_now(), 0, process_cpu_now(), known->second, &ranges});
    on_gpu = stage_on_gpu(text, known->second);
  }
  ranges.marks_gpu = on_gpu && gpu_activity::begin_stage(*on_gpu);
}

void end_range() {
  if (ranges.depth == 0) return;
  if (--ranges.depth != ranges.operator_depth) return;
  ranges.operator_depth = -1;
  if (std::exchange(ranges.marks_gpu, false)) gpu_activity::end_stage();
  State& all = *state();
  const std::lock_guard lock(all.mutex);
  const auto run = std::find_if(all.running.begin(), all.running.end(),
                                [](const Run& one) { return one.thread == &ranges; });
  if (run == all.running.end()) return;
  run->end = monotonic_now();
  run->cpu = process_cpu_now() - run->cpu;
  keep(all, *run);
  all.running.erase(run);
}

// Returns the part between `from` and `end`. Its CPU time is proportional.
std::optional<Span> cut_part(const Run& run, Nanos from, Nanos end) {
  Span span;
  span.begin = std::max(run.begin, from);
  span.end = std::min(run.end, end);
  if (span.end <= span.begin) return std::nullopt;
  const Nanos length = span.end - span.begin;
  const double part = static_cast<double>(length) / static_cast<double>(run.end - run.begin);
  span.cpu = std::min(length, static_cast<Nanos>(static_cast<double>(run.cpu) * part));
  span.stage = run.stage;
  return span;
}

// Returns true for this library, which also asks for a tool. It gets none, because it reports its
// own ranges.
bool is_ours(void* function) {
  Dl_info theirs{}, ours{};
  return ::dladdr(function, &theirs) != 0 &&
         ::dladdr(reinterpret_cast<void*>(&process_cpu_now), &ours) != 0 &&
         theirs.dli_fbase == ours.dli_fbase;
}

}  // namespace

void name(const std::string& name, Stage stage) {
  State& all = *state();
  const std::lock_guard lock(all.mutex);
  if (all.stages.size() < kMaxNames) all.stages[name] = stage;
  any_known = true;
}

void did(const Span& span) {
  if (span.end <= span.begin) return;
  State& all = *state();
  const std::lock_guard lock(all.mutex);
  keep(all, {span.begin, span.end, span.cpu, span.stage, nullptr});
  any_known = true;
}

bool known() { return any_known.load(std::memory_order_relaxed); }

std::vector<Span> between(Nanos begin, Nanos end) {
  State& all = *state();
  std::vector<Run> runs;
  {
    const std::lock_guard lock(all.mutex);
    while (!all.ended.empty() && all.ended.front().end <= begin) all.ended.pop_front();
    runs.assign(all.ended.begin(), all.ended.end());
    for (Run run : all.running) {
      run.cpu = process_cpu_now() - run.cpu;
      run.end = std::max(end, monotonic_now());
      runs.push_back(run);
    }
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.begin < b.begin; });
  std::vector<Span> spans;
  for (const Run& run : runs) {
    if (const auto span = cut_part(run, spans.empty() ? begin : spans.back().end, end))
      spans.push_back(*span);
  }
  return spans;
}

void forget() {
  if (known()) state() = new State;
  any_known = false;
}

}  // namespace loaderscope::guest::operators

// NVTX_INJECTION64_PATH names this library, which a library that sends ranges then asks here.
int InitializeInjectionNvtx2(void* export_tables) {
  using namespace loaderscope;
  static constexpr nvtx::library::Listener kListener = {"DALI", guest::operators::begin_range,
                                                        guest::operators::end_range};
  return guest::operators::is_ours(export_tables) ? 0
                                                  : nvtx::library::listen(export_tables, kListener);
}

void lsg_others_did(int stage, std::int64_t begin, std::int64_t end, std::int64_t cpu) {
  loaderscope::Span span;
  span.begin = begin;
  span.end = end;
  span.cpu = cpu;
  span.stage = static_cast<loaderscope::Stage>(stage);
  loaderscope::guest::operators::did(span);
}

void lsg_operator(const char* name, int stage) {
  loaderscope::guest::operators::name(name, static_cast<loaderscope::Stage>(stage));
}
