#include "engine/import/torch_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <istream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/import/torch_events.h"
#include "engine/import/trace_stream.h"
#include "loaderscope/errors.h"

namespace loaderscope::traces {
namespace {

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
  bool in_event() const { return event_depth_ > 0 && depth_ == event_depth_; }
  bool in_args() const {
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
    throw RunError(path_ + ": nested deeper than any trace; give a file that a profiler wrote");
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
  if (in_event()) {
    const std::string& key = key_at(depth_);
    if (key == "ts") event_.begin = value;
    if (key == "dur") event_.length = value;
    if (key == "tid") event_.thread = static_cast<std::uint64_t>(whole());
  } else if (in_args()) {
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
  if (in_event()) {
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
        fmt::format("{}: a number near byte {} is too large for a time; give a file that "
                    "a profiler wrote",
                    path_, position));
  const bool at_end = stream_.sgetc() == TraceStream::traits_type::eof();
  if (depth_ > 0 && at_end)
    throw RunError(fmt::format(
        "{}: is cut off after {} bytes{}; let the profiler write all of it "
        "(leave its with block, or call its stop()), or fetch the file again",
        path_, position, rank_.events() > 0 ? fmt::format(" and {} events", rank_.events()) : ""));
  throw RunError(
      fmt::format("{}: is no JSON (byte {}); give a trace of torch.profiler, or an SQLite "
                  "export of nsys",
                  path_, position));
}

}  // namespace

void read_torch_trace(const std::string& path, const TraceOptions& options, TracedRun& run) {
  TraceStream stream(path);
  std::istream in(&stream);
  in.exceptions(std::ios::goodbit);
  RankReader rank(path, options.step_range);
  Handler handler(path, stream, rank);
  nlohmann::json::sax_parse(in, &handler);
  if (!handler.saw_events || rank.events() == 0)
    throw RunError(path +
                   ": has no events of a profiler; give what torch.profiler's "
                   "export_chrome_trace() or tensorboard_trace_handler() wrote");
  if (!handler.host.empty()) run.host = handler.host;
  if (!handler.gpus.empty()) run.gpus = handler.gpus;
  rank.finish(run, handler.rank_number, handler.base);
}

}  // namespace loaderscope::traces
