// Findings about samples that are frames of videos.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/findings/finding_input.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "loaderscope/run_config.h"

namespace loaderscope {
namespace {

constexpr double kManyUnused = 2;  // frames decoded per frame used
constexpr double kFewFrames = 32;  // minimum for the finding

// Numbers of frames from a key frame to the next that are advised, and the limits of their price.
constexpr std::array<int, 11> kDistances = {2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30};
constexpr double kMaxGrowth = 2;      // times the bytes of the files
constexpr int kMinUnknownGrowth = 8;  // distance, where the growth is unknown
constexpr double kMinOfGain = 0.9;    // share of the best gain

// The decoded frames of an access, which begins at a key frame.
struct Accesses {
  double decoded = 0, used = 0;  // frames of an access
  double share = 0;              // share of the decoding time that grows with the decoded frames
  double distance = 0;           // frames from a key frame to the next
  bool is_distance_known = false;
  double key_size = 0;  // bytes of a key frame per byte of another one; 0: unknown

  explicit Accesses(const FindingInput& facts) {
    const double seeks = facts.metric(metric::video_seeks);
    if (seeks <= 0) return;
    decoded = facts.metric(metric::video_frames_decoded) / seeks;
    used = facts.metric(metric::video_frames_used) / seeks;
    share = facts.metric(metric::video_per_frame_share);
    distance = facts.metric(metric::video_key_distance);
    is_distance_known = distance > 0;
    if (!is_distance_known) distance = 2 * unused() + 1;
    key_size = facts.metric(metric::video_key_size);
  }

  bool are_known() const { return share > 0 && unused() > 0; }
  double unused() const { return std::max(0.0, decoded - used); }
  // Mean number of unused frames before a random one.
  static double unused_at(double distance) { return (distance - 1) / 2; }
  // True if the decoder begins far before the nearest key frame.
  bool seeks_too_far() const {
    constexpr double kFar = 1.5;
    return is_distance_known && unused() > kFar * unused_at(distance) + 1;
  }
  // Returns how many times as fast decoding is with `left` unused frames in an access.
  double speed(double left) const {
    return 1 / (1 - share * std::max(0.0, 1 - (used + left) / decoded));
  }
  // Returns the bytes of the files, relative to the present ones. 0 if unknown.
  double growth(double to) const {
    if (key_size <= 0) return 0;
    const auto bytes = [&](double each) { return (key_size + each - 1) / each; };
    return bytes(to) / bytes(distance);
  }
  bool may_be(int to) const {
    const double times = growth(to);
    return to < distance && (times > 0 ? times <= kMaxGrowth : to >= kMinUnknownGrowth);
  }
};

// Returns the largest distance with most of the gain that the price permits. 0 if there is none.
int advised_distance(const Accesses& accesses) {
  double best = 0;
  for (const int distance : kDistances)
    if (accesses.may_be(distance))
      best = std::max(best, accesses.speed(Accesses::unused_at(distance)) - 1);
  for (auto distance = kDistances.rbegin(); distance != kDistances.rend(); ++distance) {
    const double gain = accesses.speed(Accesses::unused_at(*distance)) - 1;
    if (best > 0 && accesses.may_be(*distance) && gain >= kMinOfGain * best) return *distance;
  }
  return 0;
}

Changes decode_faster(double times) {
  return {{std::string(name_of(Stage::decode)) + ".speed",
           real_to_text(std::round(100 * times) / 100)}};
}

bool is_named(const FindingInput& facts, std::string_view part) {
  return facts.named(name_of(Stage::decode)).find(part) != std::string::npos;
}

std::string encoding_words(const FindingInput& facts, const Accesses& accesses, int distance) {
  const double growth = accesses.growth(distance);
  const std::string price =
      growth > 0 ? fmt::format("files grow about {:.2g} times", growth) : "files grow";
  const std::string command =
      is_named(facts, "lerobot.")
          ? fmt::format(
                "lerobot-edit-dataset --operation.type reencode_videos "
                "--operation.rgb_encoder.g {}",
                distance)
          : fmt::format("ffmpeg -i in.mp4 -c:v libx264 -g {} out.mp4", distance);
  return fmt::format("encode the videos again with a key frame every {} frames: {}; {}", distance,
                     command, price);
}

}  // namespace

std::optional<Candidate> frames_discarded(const FindingInput& facts) {
  const double each = facts.metric(metric::video_decoded_per_used);
  if (each < kManyUnused || facts.metric(metric::video_frames_decoded) < kFewFrames ||
      facts.share(Cause::decode) < kMinReportedShare)
    return std::nullopt;
  const std::string counted = fmt::format("{:.3g} frames are decoded for each that is used", each);
  const std::string waits = fmt::format("the trainer waits {} of the time for decode",
                                        format_percent(facts.share(Cause::decode)));
  const Accesses accesses(facts);
  const bool seeks = accesses.seeks_too_far();
  const int distance = accesses.are_known() && !seeks ? advised_distance(accesses) : 0;
  if (distance > 0) {
    return Candidate{
        fmt::format("{}: key frames are {}{:.0f} frames apart; {}", counted,
                    accesses.is_distance_known ? "" : "about ", accesses.distance, waits),
        {decode_faster(accesses.speed(Accesses::unused_at(distance)))},
        encoding_words(facts, accesses, distance)};
  }
  if (accesses.are_known() && seeks) {
    return Candidate{
        fmt::format("{}, although key frames are {:.0f} frames apart; {}", counted,
                    accesses.distance, waits),
        {decode_faster(accesses.speed(Accesses::unused_at(accesses.distance)))},
        "seek to the key frame before the frame (PyAV: container.seek), and take the frames of a "
        "video in one call and in their order (get_frames_at, get_batch)"};
  }
  return Candidate{
      fmt::format("{}: decoding begins at the key frame before that frame, or at the beginning of "
                  "the video if the program does not seek; {}",
                  counted, waits),
      {{{std::string(name_of(Stage::decode)) + ".speed", "2"}}},
      "seek to the key frame before the frame (PyAV: container.seek), use clips of consecutive "
      "frames, and take the frames of a video in one call and in their order (get_frames_at, "
      "get_batch); for single frames at random, keep videos with a key frame at every few frames "
      "(ffmpeg -g 8), or pictures"};
}

bool is_of_video(const FindingInput& facts) {
  return facts.metric(metric::video_frames_decoded) > 0 || facts.metric(metric::video_files) > 0;
}

// Threads within a worker need no memory for further workers, and shorten each batch.
std::optional<Candidate> videos_in_turn(const FindingInput& facts) {
  constexpr double kSeveral = 1.5, kMinIdle = 0.3;
  const double videos = facts.metric(metric::video_in_turn);
  const double idle = facts.idle_cores().value_or(0);
  if (videos < kSeveral || idle < kMinIdle || facts.share(Cause::decode) < kMinReportedShare)
    return std::nullopt;
  const auto makers = static_cast<double>(std::max<std::int64_t>(
      1, std::max<std::int64_t>(facts.config.trainer.ranks, facts.threads()) / facts.hosts()));
  const double together = std::min(videos, 1 + idle / makers);
  const SettingRange workers = more_workers(facts);
  const bool may_have_more = workers.most > workers.present;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "{:.2g} videos of a sample are decoded one after another, {:.2g} cores are idle{}", videos,
      idle, may_have_more ? "" : ", and more workers do not fit");
  candidate.options = {decode_faster(together)};
  candidate.pytorch = fmt::format(
      "{}decode the videos of a sample in threads: ThreadPoolExecutor({}).map(decode, videos), one "
      "pool for each worker",
      may_have_more ? "if you cannot add workers, " : "", std::llround(std::ceil(videos)));
  return candidate;
}

}  // namespace loaderscope
