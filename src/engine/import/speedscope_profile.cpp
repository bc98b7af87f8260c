// Reads speedscope's JSON, as py-spy writes it. Frames come after the samples that name them, so
// the file is read twice.
#include <fmt/format.h>

#include <cmath>
#include <deque>

#include "engine/import/json_levels.h"
#include "engine/import/sampled_stacks.h"
#include "engine/import/trace_readers.h"
#include "engine/import/trace_stream.h"
#include "loaderscope/errors.h"

namespace loaderscope::traces {
namespace {

constexpr std::size_t kMaxFrames = std::size_t{16} << 20;
constexpr std::size_t kMaxSamples = std::size_t{32} << 20;  // limit per thread

// shared.frames[].{name,file}
class FrameReader : public JsonLevels {
 public:
  using JsonLevels::JsonLevels;
  std::vector<FrameMarks> frames;

 private:
  bool is_frame() const { return depth() == 4 && key_at(1) == "shared" && key_at(2) == "frames"; }
  void number(double) override {}
  void text(std::string_view value) override {
    if (!is_frame()) return;
    if (key_at(4) == "name") name_ = value;
    if (key_at(4) == "file") file_ = value;
  }
  void opened() override {
    if (is_frame()) name_ = file_ = "";
  }
  void closing() override {
    if (!is_frame()) return;
    if (frames.size() >= kMaxFrames)
      throw RunError(path() + ": has more frames than any program", "give what a sampler wrote");
    frames.push_back(marks_of_frame(name_, file_));
  }

  std::string name_, file_;
};

struct Unit {
  std::string_view name;
  double ns;
};
constexpr Unit kUnits[] = {
    {"seconds", 1e9}, {"milliseconds", 1e6}, {"microseconds", 1e3}, {"nanoseconds", 1}};

// profiles[].{name,unit,samples[][],weights[]}
class ProfileReader : public JsonLevels {
 public:
  ProfileReader(const std::string& path, TraceStream& stream, const std::vector<FrameMarks>& frames,
                double sample_rate, SampleKeeper& keeper)
      : JsonLevels(path, stream), frames_(frames), sample_rate_(sample_rate), keeper_(keeper) {}
  bool saw_samples = false;

 private:
  bool is_profile() const { return depth() == 3 && key_at(1) == "profiles"; }
  bool is_list(std::string_view name) const {
    return depth() == 4 && key_at(1) == "profiles" && key_at(3) == name;
  }
  bool is_sample() const {
    return depth() == 5 && key_at(1) == "profiles" && key_at(3) == "samples";
  }

  void number(double value) override {
    if (is_list("weights") && weights_.size() < kMaxSamples)
      weights_.push_back(static_cast<float>(value));
    if (!is_sample()) return;
    const bool is_known = value >= 0 && value < static_cast<double>(frames_.size());
    stack_.add(is_known ? frames_[static_cast<std::size_t>(value)] : marks_of_frame("", ""));
  }
  void text(std::string_view value) override {
    if (!is_profile()) return;
    if (key_at(3) == "name") name_ = value.substr(0, 200);
    if (key_at(3) == "unit") unit_ = value;
  }
  void opened() override {
    if (is_profile()) {
      name_ = unit_ = "";
      samples_.clear();
      weights_.clear();
    }
    if (is_sample()) stack_.clear();
  }
  void closing() override {
    if (is_sample()) {
      if (samples_.size() >= kMaxSamples)
        throw RunError(path() + ": has more samples than can be held", "record a shorter time");
      samples_.push_back(stack_.kind());
      saw_samples = true;
    }
    if (is_profile() && !samples_.empty()) give();
  }

  // A weight without a unit is a count.
  double ns_of_weight() const {
    for (const Unit& unit : kUnits)
      if (unit_ == unit.name) return unit.ns;
    if (unit_ != "none" && !unit_.empty())
      throw RunError(fmt::format("{}: its unit is {}, which is no time", path(), shown_text(unit_)),
                     "give a profile of time");
    if (sample_rate_ > 0) return 1e9 / sample_rate_;
    throw RunError(path() + ": does not contain the sample rate", "give --sample-rate RATE");
  }

  void give() {
    const double ns = ns_of_weight();
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const double weight = i < weights_.size() ? static_cast<double>(weights_[i]) : 0;
      constexpr double kMaxLength = 1e15;
      if (weight > 0 && weight * ns < kMaxLength)
        keeper_.add(name_, samples_[i], std::llround(weight * ns), 1);
    }
  }

  const std::vector<FrameMarks>& frames_;
  double sample_rate_;
  SampleKeeper& keeper_;
  std::string name_, unit_;
  SampledStack stack_;
  std::deque<SampleKind> samples_;
  std::deque<float> weights_;
};

}  // namespace

bool is_speedscope(std::string_view beginning) {
  return beginning.starts_with('{') &&
         beginning.find("speedscope.app/file-format-schema") != beginning.npos;
}

void read_speedscope(const std::string& path, const TraceOptions& options, TracedRun& run) {
  TraceStream first(path);
  FrameReader frames(path, first);
  parse(first, frames);
  TraceStream second(path);
  SampleKeeper keeper(path);
  ProfileReader profiles(path, second, frames.frames, options.sample_rate, keeper);
  parse(second, profiles);
  if (!profiles.saw_samples)
    throw RunError(path + ": cannot answer, as it has no samples of stacks",
                   "give what py-spy record --format speedscope "
                   "--idle wrote");
  keeper.finish(run, true);
}

}  // namespace loaderscope::traces
