// Reads the Firefox Profiler's JSON, as CPython's profiling.sampling --gecko writes it. Stacks are
// in tables that refer to each other by number. The names come after the threads that use them, so
// the file is read twice.
#include <cmath>
#include <optional>

#include "engine/import/json_levels.h"
#include "engine/import/sampled_stacks.h"
#include "engine/import/trace_readers.h"
#include "loaderscope/errors.h"

namespace loaderscope::traces {
namespace {

using Numbers = std::vector<std::int32_t>;  // -1: null

[[noreturn]] void refuse_gecko(const std::string& path, const char* what) {
  throw RunError(path + ": cannot answer: " + what);
}

// Returns null outside of the list.
template <class Item>
const Item* item_at(const std::vector<Item>& items, std::int32_t index) {
  const bool is_there = index >= 0 && static_cast<std::size_t>(index) < items.size();
  return is_there ? &items[static_cast<std::size_t>(index)] : nullptr;
}

// shared.stringArray[], meta.interval
class NameReader : public JsonLevels {
 public:
  using JsonLevels::JsonLevels;
  std::vector<std::string> names;
  double interval_ms = 0;

 private:
  void number(double value) override {
    if (depth() == 2 && key_at(1) == "meta" && key_at(2) == "interval") interval_ms = value;
  }
  void text(std::string_view value) override {
    constexpr std::size_t kMaxNames = std::size_t{1} << 20, kMaxLength = 256;
    if (depth() != 3 || key_at(1) != "shared" || key_at(2) != "stringArray") return;
    if (names.size() >= kMaxNames) refuse_gecko(path(), "it has more names than any program");
    names.emplace_back(value.substr(0, kMaxLength));
  }
  void opened() override {}
  void closing() override {}
};

// One thread's tables, by column.
struct GeckoThread {
  std::string name;
  Numbers samples;                      // stacks
  Numbers stack_frames, stack_parents;  // frames, and stacks
  Numbers frame_functions;
  Numbers function_names, function_places;
  Numbers place_names;  // names of files

  FrameMarks make_frame_marks(std::int32_t frame, const std::vector<std::string>& names) const {
    const auto number = [](const Numbers& numbers, std::int32_t index) {
      const std::int32_t* found = item_at(numbers, index);
      return found == nullptr ? -1 : *found;
    };
    const std::int32_t function = number(frame_functions, frame);
    const std::string* called = item_at(names, number(function_names, function));
    const std::string* file =
        item_at(names, number(place_names, number(function_places, function)));
    return marks_of_frame(called == nullptr ? "" : *called, file == nullptr ? "" : *file);
  }
  // A stack follows the stack that it extends.
  std::vector<SampledStack> stacks(const std::vector<std::string>& names) const {
    std::vector<FrameMarks> marks;
    for (std::size_t i = 0; i < frame_functions.size(); ++i)
      marks.push_back(make_frame_marks(static_cast<std::int32_t>(i), names));
    std::vector<SampledStack> stacks;
    for (std::size_t i = 0; i < stack_frames.size(); ++i) {
      const std::int32_t* parent = item_at(stack_parents, static_cast<std::int32_t>(i));
      const SampledStack* before = parent == nullptr ? nullptr : item_at(stacks, *parent);
      SampledStack stack = before == nullptr ? SampledStack{} : *before;
      const FrameMarks* frame_marks = item_at(marks, stack_frames[i]);
      stack.add(frame_marks == nullptr ? marks_of_frame("", "") : *frame_marks);
      stacks.push_back(stack);
    }
    return stacks;
  }
};

struct GeckoColumn {
  std::string_view table, name;
  Numbers GeckoThread::*numbers;
};
constexpr GeckoColumn kGeckoColumns[] = {{"samples", "stack", &GeckoThread::samples},
                                         {"stackTable", "frame", &GeckoThread::stack_frames},
                                         {"stackTable", "prefix", &GeckoThread::stack_parents},
                                         {"frameTable", "func", &GeckoThread::frame_functions},
                                         {"funcTable", "name", &GeckoThread::function_names},
                                         {"funcTable", "resource", &GeckoThread::function_places},
                                         {"resourceTable", "name", &GeckoThread::place_names}};

// threads[].{name,samples,stackTable,...}
class ThreadReader : public JsonLevels {
 public:
  ThreadReader(const std::string& path, TraceStream& stream, const NameReader& names,
               SampleKeeper& keeper)
      : JsonLevels(path, stream), names_(names), keeper_(keeper) {}
  bool saw_samples = false;

 private:
  bool is_thread() const { return depth() == 3 && key_at(1) == "threads"; }

  void number(double value) override {
    constexpr std::size_t kMaxNumbers = std::size_t{32} << 20;
    if (column_ == nullptr || depth() != 5) return;
    if (column_->size() >= kMaxNumbers)
      refuse_gecko(path(), "it has more samples than can be held; record a shorter time");
    constexpr double kMax = 1 << 30;
    column_->push_back(value >= 0 && value < kMax ? static_cast<std::int32_t>(value) : -1);
  }
  void text(std::string_view value) override {
    if (is_thread() && key_at(3) == "name") thread_.name = value.substr(0, 200);
  }
  void opened() override {
    if (is_thread()) thread_ = {};
    if (depth() != 5 || key_at(1) != "threads") return;
    for (const GeckoColumn& column : kGeckoColumns)
      if (key_at(3) == column.table && key_at(4) == column.name)
        column_ = &(thread_.*column.numbers);
  }
  void closing() override {
    if (depth() == 5) column_ = nullptr;
    if (is_thread()) give();
  }

  // Stacks are looked at about equally often.
  void give() {
    const std::vector<SampledStack> stacks = thread_.stacks(names_.names);
    const Nanos length = std::llround(names_.interval_ms * 1e6);
    for (const std::int32_t sample : thread_.samples) {
      const SampledStack* stack = item_at(stacks, sample);
      keeper_.add(thread_.name, stack == nullptr ? SampleKind{} : stack->kind(), length, 1);
      saw_samples = true;
    }
  }

  const NameReader& names_;
  SampleKeeper& keeper_;
  GeckoThread thread_;
  Numbers* column_ = nullptr;  // column that the parser is in
};

}  // namespace

bool is_gecko_profile(std::string_view beginning) {
  return beginning.starts_with('{') && beginning.find("\"stackwalk\"") != beginning.npos;
}

void read_gecko_profile(const std::string& path, const TraceOptions&, TracedRun& run) {
  TraceStream first(path);
  NameReader names(path, first);
  parse(first, names);
  constexpr double kMaxMs = 1e6;
  if (!(names.interval_ms > 0) || names.interval_ms > kMaxMs)
    refuse_gecko(path, "it does not contain the time between two samples (meta.interval)");
  TraceStream second(path);
  SampleKeeper keeper(path);
  ThreadReader threads(path, second, names, keeper);
  parse(second, threads);
  if (!threads.saw_samples)
    refuse_gecko(
        path, "it has no samples of stacks by column; give what profiling.sampling --gecko wrote");
  keeper.finish(run, true);
}

}  // namespace loaderscope::traces
