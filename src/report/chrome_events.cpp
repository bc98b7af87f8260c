// Timeline for chrome://tracing, speedscope and others: one JSON object with a list of events.
#include <algorithm>
#include <set>

#include "report/json_stream.h"
#include "report/timeline_events.h"

namespace loaderscope {
namespace {

class ChromeEvents final : public TrackEvents {
 public:
  explicit ChromeEvents(std::ostream& out) : json_(out) {
    json_.begin_object({}, kCompact);
    json_.member("displayTimeUnit", "ms");
    json_.begin_object("otherData");
    json_.member("generator", "loaderscope");
    json_.end_object();
    json_.begin_array("traceEvents", kCompact);
  }
  ~ChromeEvents() override {
    json_.end_array();
    json_.end_object();
  }

  Track process(std::int32_t pid, const std::string& name) override {
    return named("process_name", {pid, 0, ""}, name);
  }
  Track thread(std::int32_t pid, std::int32_t tid, const std::string& name) override {
    return named("thread_name", {pid, tid, ""}, name);
  }
  Track counter(Track process, const std::string& name) override {
    return add({find_place(process).pid, 0, name});
  }

  void slice(Track track, const Slice& slice) override {
    begin("X", track, slice.begin, slice.name);
    json_.member("cat", slice.category);
    microseconds("dur", std::max<Nanos>(0, slice.end - std::max<Nanos>(0, slice.begin)));
    if (!slice.arguments.empty()) {
      json_.begin_object("args");
      for (const auto& [name, value] : slice.arguments) json_.member(name, value);
      json_.end_object();
    }
    json_.end_object();
    if (slice.flow != 0) flow(track, slice);
  }

  void instant(Track track, Nanos at, std::string_view name) override {
    begin("i", track, at, name);
    json_.member("s", "t");  // scope: the thread
    json_.end_object();
  }

  void count(Track track, Nanos at, std::int64_t value) override {
    begin("C", track, at, find_place(track).counter);
    json_.begin_object("args");
    json_.member("value", value);
    json_.end_object();
    json_.end_object();
  }

 private:
  struct Place {
    std::int32_t pid = 0, tid = 0;
    std::string counter;  // "": it is a thread
  };

  const Place& find_place(Track track) const { return places_[track - 1]; }

  Track add(Place place) {
    places_.push_back(std::move(place));
    return places_.size();
  }

  Track named(const char* kind, const Place& place, const std::string& name) {
    const Track track = add(place);
    begin("M", track, 0, kind);
    json_.begin_object("args");
    json_.member("name", std::string_view(name));
    json_.end_object();
    json_.end_object();
    return track;
  }

  // Writes a flow event. The first slice of a number begins the flow, later slices continue it.
  void flow(Track track, const Slice& slice) {
    const bool is_new = flows_.insert(slice.flow).second;
    begin(is_new ? "s" : "t", track, slice.begin, "batch");
    json_.member("cat", "batch");
    json_.member("id", static_cast<std::int64_t>(slice.flow));
    json_.end_object();
  }

  void begin(const char* kind, Track track, Nanos at, std::string_view name) {
    json_.begin_object();
    json_.member("ph", kind);
    json_.member("pid", std::int64_t{find_place(track).pid});
    json_.member("tid", std::int64_t{find_place(track).tid});
    microseconds("ts", std::max<Nanos>(0, at));
    json_.member("name", name);
  }

  // Writes three decimals, so that nanoseconds are kept.
  void microseconds(const char* key, Nanos ns) {
    json_.number(key, fmt::format("{}.{:03}", ns / 1000, ns % 1000));
  }

  JsonStream json_;
  std::vector<Place> places_;  // index: track - 1
  std::set<std::uint64_t> flows_;
};

}  // namespace

std::unique_ptr<TrackEvents> make_chrome_events(std::ostream& out) {
  return std::make_unique<ChromeEvents>(out);
}

}  // namespace loaderscope
