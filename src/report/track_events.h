// A trace as Perfetto reads it: slices of time on tracks, flows between them, counters. Written as
// it goes; names are written once and then by number. Protocol buffers stop here.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope {

class TrackEvents {
 public:
  explicit TrackEvents(std::ostream& out) : out_(out) {}
  TrackEvents(const TrackEvents&) = delete;
  TrackEvents& operator=(const TrackEvents&) = delete;

  using Track = std::uint64_t;
  Track process(std::int32_t pid, const std::string& name);
  Track thread(std::int32_t pid, std::int32_t tid, const std::string& name);
  Track counter(Track process, const std::string& name);

  struct Slice {
    Nanos begin = 0, end = 0;
    std::string_view name, category;
    std::vector<std::pair<std::string_view, std::int64_t>> arguments = {};
    std::uint64_t flow = 0;  // slices of one flow are joined in the order of time; 0: of none
  };
  // Those of one track do not overlap. What was before the clock's 0 is at it.
  void slice(Track track, const Slice& slice);
  void instant(Track track, Nanos at, std::string_view name);
  void count(Track track, Nanos at, std::int64_t value);

 private:
  // A kind of names has numbers of its own.
  struct Names {
    std::uint32_t field;
    std::map<std::string, std::uint64_t, std::less<>> numbers = {};
  };
  std::uint64_t number_of(Names& names, std::string_view name, std::string& new_names);
  void describe(const std::string& descriptor);
  void event(Nanos at, const std::string& event, const std::string& new_names);

  std::ostream& out_;
  Track last_ = 0;
  bool begun_ = false;
  Names categories_{1}, events_{2}, arguments_{3};
};

}  // namespace loaderscope
