#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "engine/import/trace_readers.h"
#include "engine/import/trace_stream.h"
#include "engine/import/traced_run.h"
#include "loaderscope/errors.h"

namespace loaderscope::traces {
namespace {

// The events of a trace of torch.profiler, as what a rank's threads and GPUs did.

// The members of an event that are used.
struct TorchEvent {
  std::string phase, category, name;
  double begin = -1, length = 0;  // µs
  std::uint64_t thread = 0;
  std::int64_t device = -1, stream = -1, correlation = 0;
  double bytes = 0;
};

// One rank as its events come.
class RankReader {
 public:
  RankReader(const std::string& path, std::string step_range)
      : keeper_(path), step_range_(std::move(step_range)) {}

  void take(const TorchEvent& event);
  void finish(TracedRun& run, std::int64_t rank, double base);

  bool has_calls() const { return has_calls_; }
  std::int64_t events() const { return events_; }

 private:
  void take_gpu(const TorchEvent& event, GpuKind kind, TimeRange at);
  void take_host(const TorchEvent& event, HostKind kind, TimeRange at);
  void take_range(const TorchEvent& event, TimeRange at);

  SpanKeeper keeper_;
  std::string step_range_;
  TracedProcess process_;
  std::map<std::int64_t, TracedGpu> gpus_;
  ThreadNumbers threads_;
  bool has_calls_ = false, has_loader_ = false;
  std::int64_t events_ = 0, unusable_ = 0;
};

// µs, and ns of baseTimeNanoseconds: both together are still a time.
constexpr double kFarthest = 4e15, kFarthestBase = 4e18;

// "Memcpy HtoD (Pageable -> Device)"
GpuKind kind_of_copy(std::string_view name) {
  if (name.find("HtoD") != name.npos || name.find("HtoA") != name.npos)
    return name.find("(Pageable") != name.npos ? GpuKind::from_pageable : GpuKind::from_pinned;
  if (name.find("DtoH") != name.npos || name.find("AtoH") != name.npos) return GpuKind::to_host;
  return GpuKind::memory;
}

void RankReader::take(const TorchEvent& event) {
  if (event.phase != "X") return;
  ++events_;
  const bool makes_sense = event.begin >= 0 && event.begin < kFarthest && event.length >= 0 &&
                           event.length < kFarthest - event.begin;
  if (!makes_sense) {
    ++unusable_;
    return;
  }
  const Nanos begin = std::llround(1e3 * event.begin);
  const TimeRange at = {begin, begin + std::llround(1e3 * event.length)};
  const std::string& category = event.category;
  if (category == "kernel") {
    take_gpu(event, is_collective(event.name) ? GpuKind::collective : GpuKind::kernel, at);
  } else if (category == "gpu_memcpy") {
    take_gpu(event, kind_of_copy(event.name), at);
  } else if (category == "gpu_memset") {
    take_gpu(event, GpuKind::memory, at);
  } else if (category == "cuda_runtime" || category == "cuda_driver") {
    has_calls_ = true;
    take_host(event, kind_of_call(event.name), at);
  } else if (category == "user_annotation" || category == "cpu_op") {
    take_range(event, at);
  } else if (category == "overhead") {
    keeper_.add_overhead(process_, at);
  }
}

void RankReader::take_gpu(const TorchEvent& event, GpuKind kind, TimeRange at) {
  constexpr std::size_t kMaxGpus = 1024;
  if (gpus_.size() >= kMaxGpus && !gpus_.contains(event.device)) {
    ++unusable_;
    return;
  }
  GpuWork work{at.begin, at.end};
  work.correlation = static_cast<std::uint32_t>(event.correlation);
  work.stream = static_cast<std::uint16_t>(event.stream);
  work.kind = kind;
  if (kind == GpuKind::collective) work.name = collective_name(event.name);
  work.bytes = event.bytes;
  keeper_.add(gpus_[event.device], work);
}

void RankReader::take_host(const TorchEvent& event, HostKind kind, TimeRange at) {
  HostSpan span{at.begin, at.end};
  span.correlation = static_cast<std::uint32_t>(event.correlation);
  span.thread = threads_.intern(event.thread);
  span.kind = kind;
  keeper_.add(process_, span);
}

void RankReader::take_range(const TorchEvent& event, TimeRange at) {
  if (const auto range = loader_range(event.name)) {
    has_loader_ = true;
    if (range->single) process_.workers = 0;
    take_host(event, HostKind::loader_wait, at);
  } else if (const auto step = profiler_step(event.name)) {
    if (step_range_.empty()) keeper_.add(process_, StepMark{at.begin, at.end, *step});
  } else if (!step_range_.empty() && event.name == step_range_) {
    keeper_.add(process_, StepMark{at.begin, at.end});
  } else {
    take_host(event, HostKind::operation, at);
  }
}

void RankReader::finish(TracedRun& run, std::int64_t rank, double base) {
  const std::size_t index = run.processes.size();
  process_.name = rank >= 0 ? fmt::format("rank {}", rank) : fmt::format("file {}", index);
  const Nanos shift = base > 0 && base < kFarthestBase ? static_cast<Nanos>(base) : 0;
  process_.shift(shift);
  for (auto& [device, gpu] : gpus_) {
    gpu.shift(shift);
    gpu.process = index;
    gpu.name = fmt::format("{}, GPU {}", process_.name, device);
    run.gpus_used.push_back(std::move(gpu));
  }
  run.has_calls |= has_calls_;
  run.has_loader |= has_loader_;
  run.unusable += unusable_;
  run.processes.push_back(std::move(process_));
}

constexpr std::size_t kMaxDepth = 64;

// Receives the parser's events: those of traceEvents one by one, and a few other facts.
class Handler {
 public:
  Handler(const std::string& path, TraceStream& stream, RankReader& rank)
      : path_(path), stream_(stream), rank_(rank) {}

  bool null() { return number(0); }
  bool boolean(bool) { return number(0); }
  bool number_integer(std::int64_t value) { return number(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) { return number(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) { return number(value); }
  bool string(std::string& value);
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(false); }
  bool start_array(std::size_t) { return open(true); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (depth_ <= kKept) keys_.at(depth_).assign(name, 0, kMaxKey);
    stream_.understood();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error);

  double base = 0;
  std::int64_t rank_number = -1;
  std::string host, gpus;
  bool saw_events = false;

 private:
  static constexpr std::size_t kKept = 4, kMaxKey = 64, kMaxText = 1024;

  bool open(bool array);
  bool close();
  bool number(double value);
  const std::string& key_at(std::size_t depth) const { return keys_.at(depth); }
  bool is_event_level() const { return event_depth_ > 0 && depth_ == event_depth_; }
  bool is_args_level() const {
    return event_depth_ > 0 && depth_ == event_depth_ + 1 && key_at(event_depth_) == "args";
  }

  const std::string& path_;
  TraceStream& stream_;
  RankReader& rank_;
  std::size_t depth_ = 0;
  std::size_t event_depth_ = 0;              // depth of the open event; 0: no event is open
  std::size_t events_depth_ = 0;             // depth of the array of events; 0: it is not open
  std::array<std::string, kKept + 1> keys_;  // latest key of each depth
  TorchEvent event_;
};

bool Handler::open(bool array) {
  if (depth_ >= kMaxDepth && event_depth_ == 0)
    throw RunError(path_ + ": nested deeper than any trace", "give a file that a profiler wrote");
  const bool is_events = array && (depth_ == 0 || (depth_ == 1 && key_at(1) == "traceEvents"));
  ++depth_;
  if (depth_ <= kKept) keys_.at(depth_).clear();
  if (is_events) {
    events_depth_ = depth_;
    saw_events = true;
  } else if (!array && events_depth_ > 0 && depth_ == events_depth_ + 1) {
    event_depth_ = depth_;
    event_ = TorchEvent{};
  }
  stream_.understood();
  return true;
}

bool Handler::close() {
  if (depth_ == event_depth_) {
    rank_.take(event_);
    event_depth_ = 0;
  } else if (depth_ == events_depth_) {
    events_depth_ = 0;
  }
  --depth_;
  stream_.understood();
  return true;
}

bool Handler::number(double value) {
  const auto whole = [&] {
    constexpr double kMax = 4e18;
    return std::abs(value) < kMax ? static_cast<std::int64_t>(value) : 0;
  };
  stream_.understood();
  if (is_event_level()) {
    const std::string& key = key_at(depth_);
    if (key == "ts") event_.begin = value;
    if (key == "dur") event_.length = value;
    if (key == "tid") event_.thread = static_cast<std::uint64_t>(whole());
  } else if (is_args_level()) {
    const std::string& key = key_at(depth_);
    if (key == "device") event_.device = whole();
    if (key == "stream") event_.stream = whole();
    if (key == "correlation") event_.correlation = whole();
    if (key == "bytes") event_.bytes = std::clamp(value, 0.0, 1e18);
  } else if (depth_ == 1 && key_at(1) == "baseTimeNanoseconds") {
    base = value;
  } else if (depth_ == 2 && key_at(1) == "distributedInfo" && key_at(2) == "rank") {
    rank_number = whole();
  }
  return true;
}

bool Handler::string(std::string& value) {
  stream_.understood();
  if (is_event_level()) {
    const std::string& key = key_at(depth_);
    if (value.size() > kMaxText) value.resize(kMaxText);
    if (key == "ph") event_.phase = value;
    if (key == "cat") event_.category = value;
    if (key == "name") event_.name = value;
    if (key == "tid") event_.thread = std::hash<std::string>{}(value);
  } else if (depth_ == 3 && key_at(1) == "deviceProperties" && key_at(3) == "name") {
    if (gpus.size() < kMaxText && gpus.find(value) == gpus.npos)
      gpus += (gpus.empty() ? "" : ", ") + shown_text(value);
  } else if (depth_ == 1 && key_at(1) == "host_name") {
    host = shown_text(value);
  }
  return true;
}

bool Handler::parse_error(std::size_t position, const std::string&,
                          const nlohmann::detail::exception& error) {
  const bool overflow =
      std::string_view(error.what()).find("number overflow") != std::string_view::npos;
  if (overflow)
    throw RunError(
        fmt::format("{}: a number near byte {} is too large for a time", path_, position),
        "give a file that "
        "a profiler wrote");
  const bool at_end = stream_.sgetc() == TraceStream::traits_type::eof();
  if (depth_ > 0 && at_end)
    throw RunError(
        fmt::format("{}: is cut off after {} bytes{}", path_, position,
                    rank_.events() > 0 ? fmt::format(" and {} events", rank_.events()) : ""),
        "let the profiler write all of it "
        "(leave its with block, or call its stop()), or fetch the file again");
  throw RunError(fmt::format("{}: is no JSON (byte {})", path_, position),
                 "give a trace of torch.profiler, or an SQLite "
                 "export of nsys");
}

}  // namespace

void read_torch_trace(const std::string& path, const TraceOptions& options, TracedRun& run) {
  TraceStream stream(path);
  std::istream input(&stream);
  input.exceptions(std::ios::goodbit);
  RankReader rank(path, options.step_range);
  Handler handler(path, stream, rank);
  nlohmann::json::sax_parse(input, &handler);
  if (!handler.saw_events || rank.events() == 0)
    throw RunError(path + ": has no events of a profiler",
                   "give what torch.profiler's "
                   "export_chrome_trace() or tensorboard_trace_handler() wrote");
  if (!handler.host.empty()) run.host = handler.host;
  if (!handler.gpus.empty()) run.gpus = handler.gpus;
  rank.finish(run, handler.rank_number, handler.base);
}

}  // namespace loaderscope::traces
