// Findings about frames of videos, by the figures of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "analysis/findings/finding_input.h"
#include "loaderscope/predict.h"
#include "predict/fitted_model.h"
#include "unit/findings/users_code.h"

namespace loaderscope {
namespace {

using testing::HasSubstr;
using Metrics = std::map<std::string, double>;

constexpr const char* kSlowVideos =
    "batch = 8\nsteps = 160\ncompute = 10ms\nworkers = 16\ncost = decode=40ms";

// One frame of each access, 60 frames after a key frame at most.
const Metrics kLongGroups = {{"video.frames_decoded", 3050},   {"video.frames_used", 100},
                             {"video.decoded_per_used", 30.5}, {"video.seeks", 100},
                             {"video.key_distance", 60},       {"video.key_size", 4},
                             {"video.per_frame_share", 0.8}};

RunRecord run_with(const Metrics& metrics, const std::vector<Detail>& details = {},
                   const std::string& scenario = kSlowVideos) {
  RunRecord record = test::run(scenario);
  for (const auto& [name, value] : metrics)
    record.metrics.push_back({name, "1", "for a test", value});
  record.details = details;
  return record;
}

Metrics changed(Metrics metrics, const Metrics& changes) {
  for (const auto& [name, value] : changes) metrics[name] = value;
  return metrics;
}

std::optional<Candidate> look(std::string_view id, const RunRecord& record) {
  const Analysis analysis = analyse(record);
  return look_at(find_row(id, finding_table()), FindingInput(record, analysis));
}

std::string print_change(const std::optional<Candidate>& candidate) {
  return candidate ? changes_to_text(candidate->options.at(0)) : "";
}

TEST(FramesDiscarded, AdvisesDistanceOfKeyFrames) {
  const auto found = look("frames-discarded", run_with(kLongGroups));
  ASSERT_TRUE(found);
  // 30.5 frames become 1 + 1.5, and 0.8 of the time is theirs: 1 / (1 - 0.8 * 28 / 30.5).
  EXPECT_EQ(print_change(found), "decode.speed=3.77");
  EXPECT_THAT(found->evidence, HasSubstr("key frames are 60 frames apart"));
  EXPECT_THAT(found->pytorch, HasSubstr("ffmpeg -i in.mp4 -c:v libx264 -g 4 out.mp4; files grow "
                                        "about 1.7 times"));
}

TEST(FramesDiscarded, LimitsGrowthOfFiles) {
  const auto advice = [](const Metrics& changes) {
    return look("frames-discarded", run_with(changed(kLongGroups, changes)))->pytorch;
  };
  EXPECT_THAT(advice({{"video.key_size", 20}}), HasSubstr("-g 12 "));
  EXPECT_THAT(advice({{"video.key_size", 0}}), HasSubstr("-g 8 out.mp4; files grow"));
}

TEST(FramesDiscarded, KeepsFramesOfClips) {
  // Clips of 16 frames: 29.5 frames are unused before each clip.
  const auto found =
      look("frames-discarded", run_with(changed(kLongGroups, {{"video.frames_used", 1600},
                                                              {"video.frames_decoded", 4550},
                                                              {"video.decoded_per_used", 2.84}})));
  ASSERT_TRUE(found);
  EXPECT_EQ(print_change(found), "decode.speed=1.94");
  EXPECT_THAT(found->pytorch, HasSubstr("-g 5 "));
}

TEST(FramesDiscarded, AdvisesSeekWhereDecodingBeginsFarBefore) {
  const auto found =
      look("frames-discarded", run_with(changed(kLongGroups, {{"video.frames_decoded", 30'000},
                                                              {"video.decoded_per_used", 300}})));
  ASSERT_TRUE(found);
  EXPECT_EQ(print_change(found), "decode.speed=3.55");  // 1 / (1 - 0.8 * (1 - 30.5 / 300))
  EXPECT_THAT(found->pytorch, HasSubstr("container.seek"));
}

TEST(FramesDiscarded, PredictsTwiceAsFastWithoutFigures) {
  for (const char* missing : {"video.seeks", "video.per_frame_share"}) {
    const auto found = look("frames-discarded", run_with(changed(kLongGroups, {{missing, 0}})));
    EXPECT_EQ(print_change(found), "decode.speed=2") << missing;
  }
  EXPECT_FALSE(
      look("frames-discarded", run_with(changed(kLongGroups, {{"video.decoded_per_used", 1.5}}))));
}

TEST(FramesDiscarded, NamesCommandOfLerobot) {
  const Detail lerobot = {"decode", "lerobot.datasets.video_utils.decode_video_frames_pyav", 0.9};
  EXPECT_THAT(look("frames-discarded", run_with(kLongGroups, {lerobot}))->pytorch,
              HasSubstr("lerobot-edit-dataset --operation.type reencode_videos "
                        "--operation.rgb_encoder.g 4"));
}

TEST(FramesDiscarded, PromisesWhatTheModelPredicts) {
  const RunRecord record = run_with(changed(kLongGroups, {{"video.per_frame_share", 0.3}}));
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  ASSERT_FALSE(analysis.findings.empty());
  const Finding& fix = analysis.findings.front();
  EXPECT_EQ(fix.id, "frames-discarded");
  const FittedModel model(record);
  EXPECT_DOUBLE_EQ(fix.rate_after,
                   scale_prediction(analysis, model.predict(fix.changes, 20'000)).rate_after);
  EXPECT_NEAR(fix.rate_after / fix.rate_before, std::stod(fix.changes.at(0).value), 0.05);
  EXPECT_FALSE(std::any_of(analysis.findings.begin(), analysis.findings.end(),
                           [](const Finding& other) { return other.id == "decode-bound"; }));
}

const Metrics kOpenedAgain = {{"video.files", 24}, {"video.opened_again", 0.95}};
const Detail kOpening = {"decode", "opening videos (torchcodec)", 0.5};

TEST(DecoderPerSample, AdvisesToKeepDecoders) {
  const auto found = look("decoder-per-sample", run_with(kOpenedAgain, {kOpening}));
  ASSERT_TRUE(found);
  EXPECT_EQ(print_change(found), "decode.speed=1.8");  // 1 / (1 - 0.95 * 0.95 * 0.5)
  EXPECT_THAT(
      found->evidence,
      HasSubstr(
          "a process opens 24 video files for its samples, and 95.0 % of its opens are repeats"));
  EXPECT_THAT(found->pytorch, HasSubstr("functools.lru_cache(24)"));
}

TEST(DecoderPerSample, ExpectsLessOfMoreFilesThanCanBeOpen) {
  const Metrics many = changed(kOpenedAgain, {{"video.files", 2048}});
  EXPECT_EQ(print_change(look("decoder-per-sample", run_with(many, {kOpening}))),
            "decode.speed=1.1");
}

TEST(DecoderPerSample, NamesSettingsOfLerobot) {
  const auto advice = [](const char* name) {
    const Detail lerobot = {"decode", std::string("lerobot.datasets.video_utils.") + name, 0.4};
    return look("decoder-per-sample", run_with(kOpenedAgain, {kOpening, lerobot}))->pytorch;
  };
  EXPECT_THAT(advice("decode_video_frames_torchcodec"),
              HasSubstr("LEROBOT_VIDEO_DECODER_CACHE_SIZE=24"));
  EXPECT_THAT(advice("decode_video_frames_pyav"), HasSubstr("video_backend=\"torchcodec\""));
}

TEST(DecoderPerSample, IgnoresVideosOpenedOnce) {
  const Metrics once = changed(kOpenedAgain, {{"video.opened_again", 0.3}});
  EXPECT_FALSE(look("decoder-per-sample", run_with(once, {kOpening})));
  EXPECT_FALSE(look("decoder-per-sample",
                    run_with(kOpenedAgain, {{"decode", "opening videos (torchcodec)", 0.05}})));
}

// 16 cores, of which `used` are taken.
RunRecord run_in_turn(double videos, double used, const std::string& workers) {
  RunRecord record = run_with({{"video.in_turn", videos}}, {},
                              "batch = 8\nsteps = 160\ncompute = 10ms\ncost = decode=40ms\n"
                              "workers = " +
                                  workers);
  const double window = seconds(analyse(record).account.window);
  record.metrics.push_back({"process.cpu_s", "s", "for a test", used * window});
  return record;
}

TEST(VideosInTurn, AdvisesThreadsOnIdleCores) {
  const auto found = look("videos-in-turn", run_in_turn(3, 4, "4"));
  ASSERT_TRUE(found);
  EXPECT_EQ(print_change(found), "decode.speed=3");
  EXPECT_THAT(found->pytorch, HasSubstr("if you cannot add workers, "));
  EXPECT_THAT(found->pytorch, HasSubstr("ThreadPoolExecutor(3)"));
  EXPECT_EQ(print_change(look("videos-in-turn", run_in_turn(3, 12, "8"))), "decode.speed=1.5");
}

TEST(VideosInTurn, SaysThatMoreWorkersDoNotFit) {
  RunRecord record = run_in_turn(2, 4, "4");
  record.metrics.push_back({"memory.worker_private_bytes", "bytes", "for a test", 4e9});
  record.metrics.push_back({"memory.free_bytes", "bytes", "for a test", 1e9});
  const auto found = look("videos-in-turn", record);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->evidence, HasSubstr("more workers do not fit"));
  EXPECT_THAT(found->pytorch, testing::StartsWith("decode the videos"));
}

TEST(VideosInTurn, LeavesBusyCoresAndSingleVideos) {
  EXPECT_FALSE(look("videos-in-turn", run_in_turn(3, 15.9, "16")));
  EXPECT_FALSE(look("videos-in-turn", run_in_turn(1, 4, "4")));
}

// Workers are a setting, and come first where there are none.
TEST(VideosInTurn, FollowsWorkers) {
  const RunRecord record = run_in_turn(2, 1, "0");
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  ASSERT_GE(analysis.findings.size(), 2U);
  EXPECT_EQ(analysis.findings[0].id, "no-workers");
}

}  // namespace
}  // namespace loaderscope
