// A timeline: slices of time on tracks, flows between them, counters. The implementations choose
// the file format.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope {

class TrackEvents {
 public:
  TrackEvents() = default;
  virtual ~TrackEvents() = default;
  TrackEvents(const TrackEvents&) = delete;
  TrackEvents& operator=(const TrackEvents&) = delete;

  using Track = std::uint64_t;
  virtual Track process(std::int32_t pid, const std::string& name) = 0;
  virtual Track thread(std::int32_t pid, std::int32_t tid, const std::string& name) = 0;
  virtual Track counter(Track process, const std::string& name) = 0;

  struct Slice {
    Nanos begin = 0, end = 0;
    std::string_view name, category;
    std::vector<std::pair<std::string_view, std::int64_t>> arguments = {};
    std::uint64_t flow = 0;  // slices of one flow are joined in the order of time; 0: of none
  };
  // Slices of one track do not overlap. Times before 0 become 0.
  virtual void slice(Track track, const Slice& slice) = 0;
  virtual void instant(Track track, Nanos at, std::string_view name) = 0;
  virtual void count(Track track, Nanos at, std::int64_t value) = 0;
};

// Each writes as it goes; what comes last is written when it ends.
std::unique_ptr<TrackEvents> make_perfetto_events(std::ostream& out);
std::unique_ptr<TrackEvents> make_chrome_events(std::ostream& out);

}  // namespace loaderscope
