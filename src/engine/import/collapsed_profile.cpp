// Stacks a line, with how often each was seen: py-spy's --format raw, profiling.sampling's
// --collapsed.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/import/sampled_stacks.h"
#include "engine/import/trace_readers.h"
#include "engine/import/trace_stream.h"
#include "loaderscope/errors.h"

namespace loaderscope::traces {
namespace {

struct StackLine {
  std::string_view stack;
  std::int64_t samples = 0;
};

// "a (x.py:1);b (y.py:2) 45"
std::optional<StackLine> stack_line(std::string_view line) {
  constexpr std::int64_t kMax = 1'000'000'000'000;
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto blank = line.rfind(' ');
  if (blank == line.npos || blank + 1 == line.size()) return std::nullopt;
  const std::string_view digits = line.substr(blank + 1);
  StackLine read{line.substr(0, blank)};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), read.samples);
  const bool ok = error == std::errc{} && end == digits.data() + digits.size() &&
                  read.samples > 0 && read.samples < kMax;
  return ok ? std::optional(read) : std::nullopt;
}

std::string_view without_line(std::string_view place) {
  const auto colon = place.rfind(':');
  const bool has_line = colon != place.npos && colon + 1 < place.size() &&
                        place.find_first_not_of("0123456789", colon + 1) == place.npos;
  return has_line ? place.substr(0, colon) : place;
}

// "Queue.get (multiprocessing/queues.py:113)", or "queues.py:get:113" of profiling.sampling.
FrameMarks marks_of_text(std::string_view frame) {
  const auto open = frame.rfind(" (");
  if (open != frame.npos && frame.ends_with(')'))
    return marks_of_frame(frame.substr(0, open),
                          without_line(frame.substr(open + 2, frame.size() - open - 3)));
  const std::string_view place = without_line(frame);
  const auto colon = place.find(':');
  return colon == place.npos ? marks_of_frame(place, "")
                             : marks_of_frame(place.substr(colon + 1), place.substr(0, colon));
}

bool names_thread(std::string_view piece) {
  return piece.starts_with("process ") || piece.starts_with("thread (") ||
         piece.starts_with("tid:");
}

class LineReader {
 public:
  LineReader(const std::string& path, Nanos interval) : keeper_(path), interval_(interval) {}

  void take(const StackLine& line) {
    stack_.clear();
    std::string thread;
    bool has_thread = false;
    std::string_view rest = line.stack;
    while (!rest.empty()) {
      const std::string_view piece = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
      if (names_thread(piece)) {
        has_thread = has_thread || !piece.starts_with("process ");
        thread += std::string(piece) + ";";
      } else if (!piece.empty()) {
        stack_.add(marks_of_text(piece));
      }
    }
    // Without --threads, all threads of a process share one name. Only the beginning of a stack
    // distinguishes them.
    if (!has_thread) thread += stack_.is_of_main_thread() ? "main" : "others";
    keeper_.add(thread, stack_.kind(), line.samples * interval_, line.samples);
  }
  void finish(TracedRun& run) const { keeper_.finish(run, false); }

 private:
  SampleKeeper keeper_;
  SampledStack stack_;
  Nanos interval_;
};

// False at the end. `understood`: lines are held one at a time.
bool next_line(TraceStream& stream, std::string& line) {
  line.clear();
  for (int letter = stream.sbumpc(); letter != EOF; letter = stream.sbumpc()) {
    if (letter == '\n') {
      stream.understood();
      return true;
    }
    line += static_cast<char>(letter);
  }
  return !line.empty();
}

}  // namespace

bool is_collapsed_profile(std::string_view beginning) {
  if (beginning.starts_with('{') || beginning.starts_with('[')) return false;
  const auto end = beginning.find('\n');
  const std::string_view line = beginning.substr(0, end);
  const bool is_text = std::ranges::all_of(line, [](char letter) {
    return static_cast<unsigned char>(letter) >= 0x20 || letter == '\r' || letter == '\t';
  });
  if (!is_text) return false;
  if (end != beginning.npos) return stack_line(line).has_value();
  return line.find(';') != line.npos && !line.starts_with("<!") && !line.starts_with("<?");
}

void read_collapsed_profile(const std::string& path, const TraceOptions& options, TracedRun& run) {
  if (!(options.sample_rate > 0))
    throw RunError(path + ": contains how often stacks were seen, but not the sample rate",
                   "give --sample-rate RATE, "
                   "what py-spy's --rate was (100/s if it was not given)");
  TraceStream stream(path);
  LineReader reader(path, std::max<Nanos>(std::llround(1e9 / options.sample_rate), 1));
  std::string line;
  for (std::int64_t number = 1; next_line(stream, line); ++number) {
    if (line.empty()) continue;
    const auto read = stack_line(line);
    if (!read)
      throw RunError(fmt::format("{}: line {} is no stack with a count after it", path, number),
                     "give what py-spy's --format raw or "
                     "profiling.sampling's --collapsed wrote");
    reader.take(*read);
  }
  reader.finish(run);
}

}  // namespace loaderscope::traces
