// A run as a trace: read back by the fields that Perfetto reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <sstream>

#include "report/results.h"
#include "report/writers.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using protozero::pbf_reader;

struct Event {
  std::uint64_t at = 0, track = 0, name = 0, category = 0, flow = 0;
  std::int32_t type = 0;
  std::int64_t value = 0;
};

// The trace that a reader of the format builds from the bytes.
struct Trace {
  std::map<std::uint64_t, std::string> tracks;  // threads and processes by their names
  std::map<std::uint64_t, std::string> names, categories;
  std::vector<Event> events;

  // The total time of slices per name, for one category and one thread name. Slices of a track do
  // not overlap.
  std::map<std::string, Nanos> sums(const std::string& thread, const std::string& category) const {
    std::map<std::string, Nanos> sums;
    std::map<std::uint64_t, Event> open;
    for (const Event& event : events) {
      if (!tracks.count(event.track) || tracks.at(event.track) != thread) continue;
      if (event.type == 1) {
        EXPECT_FALSE(open.count(event.track)) << "slices overlap";
        open[event.track] = event;
      } else if (event.type == 2) {
        const Event begun = open.at(event.track);
        open.erase(event.track);
        if (categories.at(begun.category) == category)
          sums[names.at(begun.name)] += static_cast<Nanos>(event.at - begun.at);
      }
    }
    EXPECT_TRUE(open.empty());
    return sums;
  }
};

Event parse_event(pbf_reader reader) {
  Event event;
  while (reader.next()) {
    switch (reader.tag()) {
      case 3:
        event.category = reader.get_uint64();
        break;
      case 9:
        event.type = reader.get_enum();
        break;
      case 10:
        event.name = reader.get_uint64();
        break;
      case 11:
        event.track = reader.get_uint64();
        break;
      case 30:
        event.value = reader.get_int64();
        break;
      case 47:
        event.flow = reader.get_fixed64();
        break;
      default:
        reader.skip();
    }
  }
  return event;
}

void read_names(pbf_reader reader, Trace& trace) {
  while (reader.next()) {
    const auto field = reader.tag();
    pbf_reader entry = reader.get_message();
    std::uint64_t number = 0;
    std::string name;
    while (entry.next()) {
      if (entry.tag() == 1)
        number = entry.get_uint64();
      else
        name = entry.get_string();
    }
    if (field == 1) trace.categories[number] = name;
    if (field == 2) trace.names[number] = name;
  }
}

void read_descriptor(pbf_reader reader, Trace& trace) {
  std::uint64_t track = 0;
  while (reader.next()) {
    if (reader.tag() == 1) {
      track = reader.get_uint64();
    } else if (reader.tag() == 2) {
      trace.tracks[track] = reader.get_string();
    } else if (reader.tag() == 3 || reader.tag() == 4) {
      const std::uint32_t name = reader.tag() == 3 ? 6 : 5;
      pbf_reader owner = reader.get_message();
      while (owner.next()) {
        if (owner.tag() == name)
          trace.tracks[track] = owner.get_string();
        else
          owner.skip();
      }
    } else {
      reader.skip();
    }
  }
}

Trace make_trace(const RunRecord& record) {
  std::ostringstream out;
  const Analysis none;
  write_perfetto(out, make_result(record, none));
  const std::string bytes = out.str();
  Trace trace;
  pbf_reader packets(bytes);
  while (packets.next(1)) {
    pbf_reader packet = packets.get_message();
    std::uint64_t at = 0;
    while (packet.next()) {
      if (packet.tag() == 8) {
        at = packet.get_uint64();
      } else if (packet.tag() == 11) {
        trace.events.push_back(parse_event(packet.get_message()));
        trace.events.back().at = at;
      } else if (packet.tag() == 12) {
        read_names(packet.get_message(), trace);
      } else if (packet.tag() == 60) {
        read_descriptor(packet.get_message(), trace);
      } else {
        packet.skip();
      }
    }
  }
  return trace;
}

TEST(Perfetto, WritesTheAccount) {
  const RunRecord record = full_record();
  const Account account = analyse(record).account;
  const std::map<std::string, Nanos> sums = make_trace(record).sums("training", "account");
  EXPECT_EQ(sums.at("compute"), account.compute);
  Nanos sum = account.compute;
  for (const auto& word : Words<Cause>::table()) {
    const auto found = sums.find(std::string(word.name));
    EXPECT_EQ(found == sums.end() ? 0 : found->second, account.stall[word.value]) << word.name;
    sum += account.stall[word.value];
  }
  EXPECT_EQ(sum, account.window);
}

TEST(Perfetto, GivesRankOneProcessAndBatchOneFlow) {
  const Trace trace = make_trace(two_ranks());
  std::set<std::string> names;
  for (const auto& [track, name] : trace.tracks) names.insert(name);
  EXPECT_TRUE(names.count("rank 0") && names.count("rank 1") && names.count("batches ready"));
  std::map<std::uint64_t, std::set<std::uint64_t>> tracks_of_flow;
  for (const Event& event : trace.events)
    if (event.flow != 0) tracks_of_flow[event.flow].insert(event.track);
  for (const auto& [flow, tracks] : tracks_of_flow) EXPECT_GE(tracks.size(), 1u);
}

TEST(Perfetto, CountsReadyBatchesFromZero) {
  std::int64_t least = 0, most = 0;
  for (const Event& event : make_trace(full_record()).events) {
    if (event.type != 4) continue;
    least = std::min(least, event.value);
    most = std::max(most, event.value);
  }
  EXPECT_EQ(least, 0);
  EXPECT_GT(most, 0);
}

TEST(Perfetto, ReportsStepsThatItLeavesOut) {
  const RunRecord record = make_run_record(
      0, 200'010, [](std::int64_t) { return make_step_plan(25 * kMillisecond, {}); });
  const Trace trace = make_trace(record);
  bool is_said = false;
  for (const auto& [number, name] : trace.names)
    is_said = is_said || name == "10 steps from here on are left out";
  EXPECT_TRUE(is_said);
}

}  // namespace
}  // namespace loaderscope
