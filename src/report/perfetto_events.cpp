// Timeline for Perfetto. Names are written once, then by number. Only this file knows protocol
// buffers.
#include <algorithm>
#include <map>
#include <protozero/pbf_writer.hpp>

#include "report/timeline_events.h"

namespace loaderscope {
namespace {

using protozero::pbf_writer;

// The fields of perfetto/trace/**.proto that are written here, by the messages that they are of.
namespace trace {
constexpr std::uint32_t kPacket = 1;
}
namespace packet {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                        kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2;  // values of kSequenceFlags
}  // namespace packet
namespace descriptor {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
constexpr std::uint32_t kPid = 1, kProcessName = 6;  // fields of kProcess
constexpr std::uint32_t kTid = 2, kThreadName = 5;   // fields of kThread, which has kPid too
}  // namespace descriptor
namespace event {
constexpr std::uint32_t kCategory = 3, kArgument = 4, kType = 9, kName = 10, kTrack = 11,
                        kCounterValue = 30, kFlow = 47;
constexpr std::int32_t kBegins = 1, kEnds = 2, kInstant = 3, kCounts = 4;  // values of kType
constexpr std::uint32_t kArgumentName = 1, kArgumentNumber = 4;            // fields of kArgument
}  // namespace event
namespace interned {
constexpr std::uint32_t kNumber = 1, kName = 2;
}

constexpr std::uint32_t kOurSequence = 1;

std::string make_event(TrackEvents::Track track, std::int32_t type) {
  std::string bytes;
  pbf_writer event(bytes);
  event.add_enum(event::kType, type);
  event.add_uint64(event::kTrack, track);
  return bytes;
}

void write_packet(std::ostream& out, const std::string& packet) {
  std::string bytes;
  pbf_writer(bytes).add_message(trace::kPacket, packet);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class PerfettoEvents final : public TrackEvents {
 public:
  explicit PerfettoEvents(std::ostream& out) : out_(out) {}

  Track process(std::int32_t pid, const std::string& name) override;
  Track thread(std::int32_t pid, std::int32_t tid, const std::string& name) override;
  Track counter(Track process, const std::string& name) override;
  void slice(Track track, const Slice& slice) override;
  void instant(Track track, Nanos at, std::string_view name) override;
  void count(Track track, Nanos at, std::int64_t value) override;

 private:
  // A kind of names has numbers of its own.
  struct Names {
    std::uint32_t field;
    std::map<std::string, std::uint64_t, std::less<>> numbers = {};
  };
  static std::uint64_t name_number(Names& names, std::string_view name, std::string& new_names);
  void describe(const std::string& descriptor);
  void event(Nanos at, const std::string& event, const std::string& new_names);

  std::ostream& out_;
  Track last_ = 0;
  bool begun_ = false;
  Names categories_{1}, events_{2}, arguments_{3};
};

void PerfettoEvents::describe(const std::string& descriptor) {
  std::string bytes;
  pbf_writer packet(bytes);
  packet.add_message(packet::kTrackDescriptor, descriptor);
  packet.add_uint32(packet::kSequence, kOurSequence);
  if (!begun_) packet.add_uint32(packet::kSequenceFlags, packet::kStateCleared);
  begun_ = true;
  write_packet(out_, bytes);
}

PerfettoEvents::Track PerfettoEvents::process(std::int32_t pid, const std::string& name) {
  std::string bytes, process_bytes;
  pbf_writer process(process_bytes);
  process.add_int32(descriptor::kPid, pid);
  process.add_string(descriptor::kProcessName, name);
  pbf_writer descriptor(bytes);
  descriptor.add_uint64(descriptor::kUuid, ++last_);
  descriptor.add_message(descriptor::kProcess, process_bytes);
  describe(bytes);
  return last_;
}

PerfettoEvents::Track PerfettoEvents::thread(std::int32_t pid, std::int32_t tid,
                                             const std::string& name) {
  std::string bytes, thread_bytes;
  pbf_writer thread(thread_bytes);
  thread.add_int32(descriptor::kPid, pid);
  thread.add_int32(descriptor::kTid, tid);
  thread.add_string(descriptor::kThreadName, name);
  pbf_writer descriptor(bytes);
  descriptor.add_uint64(descriptor::kUuid, ++last_);
  descriptor.add_message(descriptor::kThread, thread_bytes);
  describe(bytes);
  return last_;
}

PerfettoEvents::Track PerfettoEvents::counter(Track process, const std::string& name) {
  std::string bytes;
  pbf_writer descriptor(bytes);
  descriptor.add_uint64(descriptor::kUuid, ++last_);
  descriptor.add_string(descriptor::kName, name);
  descriptor.add_uint64(descriptor::kParent, process);
  descriptor.add_message(descriptor::kCounter, std::string());
  describe(bytes);
  return last_;
}

std::uint64_t PerfettoEvents::name_number(Names& names, std::string_view name,
                                          std::string& new_names) {
  const auto known = names.numbers.find(name);
  if (known != names.numbers.end()) return known->second;
  const std::uint64_t number = names.numbers.size() + 1;
  names.numbers.emplace(name, number);
  std::string bytes;
  pbf_writer entry(bytes);
  entry.add_uint64(interned::kNumber, number);
  entry.add_string(interned::kName, name.data(), name.size());
  pbf_writer(new_names).add_message(names.field, bytes);
  return number;
}

void PerfettoEvents::event(Nanos at, const std::string& event, const std::string& new_names) {
  std::string bytes;
  pbf_writer packet(bytes);
  packet.add_uint64(packet::kTimestamp, static_cast<std::uint64_t>(std::max<Nanos>(0, at)));
  packet.add_uint32(packet::kSequence, kOurSequence);
  packet.add_uint32(packet::kSequenceFlags, packet::kNeedsState);
  if (!new_names.empty()) packet.add_message(packet::kInternedData, new_names);
  packet.add_message(packet::kTrackEvent, event);
  write_packet(out_, bytes);
}

void PerfettoEvents::slice(Track track, const Slice& slice) {
  std::string new_names, begins = make_event(track, event::kBegins);
  pbf_writer begin(begins);
  begin.add_uint64(event::kName, name_number(events_, slice.name, new_names));
  begin.add_uint64(event::kCategory, name_number(categories_, slice.category, new_names));
  for (const auto& [name, value] : slice.arguments) {
    std::string bytes;
    pbf_writer argument(bytes);
    argument.add_uint64(event::kArgumentName, name_number(arguments_, name, new_names));
    argument.add_int64(event::kArgumentNumber, value);
    begin.add_message(event::kArgument, bytes);
  }
  if (slice.flow != 0) begin.add_fixed64(event::kFlow, slice.flow);
  event(slice.begin, begins, new_names);
  event(slice.end, make_event(track, event::kEnds), "");
}

void PerfettoEvents::instant(Track track, Nanos at, std::string_view name) {
  std::string new_names, bytes = make_event(track, event::kInstant);
  pbf_writer(bytes).add_uint64(event::kName, name_number(events_, name, new_names));
  event(at, bytes, new_names);
}

void PerfettoEvents::count(Track track, Nanos at, std::int64_t value) {
  std::string bytes = make_event(track, event::kCounts);
  pbf_writer(bytes).add_int64(event::kCounterValue, value);
  event(at, bytes, "");
}

}  // namespace

std::unique_ptr<TrackEvents> make_perfetto_events(std::ostream& out) {
  return std::make_unique<PerfettoEvents>(out);
}

}  // namespace loaderscope
