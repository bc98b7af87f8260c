// Frames of videos that PyAV wrote: what comes of them in any order, and what is decoded for it.
#include "source/video.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/has_ffmpeg.h"
#include "fixtures.h"
#include "loaderscope/decode.h"
#include "loaderscope/errors.h"
#include "record/frame_counts.h"
#include "source/video_loop.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::HasSubstr;

constexpr int kWidth = 48, kHeight = 32, kParts = 8;

std::unique_ptr<Source> open(const std::string& path, const FormatParameters& words = {}) {
  SourceOptions options = without_cache({path});
  options.words = words;
  return open_video(options, {});
}
std::string why_not(const std::string& path) {
  return error_message<RunError>([&] { open(path); });
}

struct Video : testing::Test {
  void SetUp() override {
    if (const auto reason = no_ffmpeg()) GTEST_SKIP() << *reason;
  }
};

// A reader and a decoder, as each worker has them.
struct Viewer {
  explicit Viewer(const Source& source) : reader(source.make_reader()) {
    DecodeOptions options;
    options.frames = &counts;
    decoder = make_any_decoder(options);
  }
  std::string frame(std::int64_t sample) {
    const ImageHeader header = decoder->open(reader->read(sample));
    const Pixels pixels = decoder->decode({0, 0, header.width, header.height});
    return {reinterpret_cast<const char*>(pixels.data),
            pixels.stride * static_cast<std::size_t>(header.height)};
  }
  double count(std::string_view name) const { return value_of(counts.metrics(), name).value_or(0); }

  FrameCounts counts;
  std::unique_ptr<SampleReader> reader;
  std::unique_ptr<Decoder> decoder;
};

// The mean of red, green and blue of each eighth: what PyAV says of the frame.
void expect_means(const std::string& pixels, std::string_view means) {
  constexpr std::size_t kPart = std::size_t{kWidth} * kHeight / kParts;
  for (std::size_t i = 0; i < 3 * kParts; ++i) {
    double sum = 0;
    for (std::size_t p = 0; p < kPart; ++p)
      sum += static_cast<std::uint8_t>(pixels[(i / 3 * kPart + p) * 3 + i % 3]);
    EXPECT_NEAR(sum / kPart, static_cast<std::uint8_t>(means[i]), 2) << i;
  }
}

TEST_F(Video, MatchesFramesOfPyAvInAnyOrder) {
  for (const char* name : {"videos/left/0.mp4", "videos/right/1.mp4", "videos/other/open.mkv",
                           "videos/other/vp9.webm"}) {
    SCOPED_TRACE(name);
    const auto source = open(fixture(name));
    const std::string means = content_of_fixture(std::string(name) + ".means");
    ASSERT_EQ(source->size(), std::ssize(means) / (3 * kParts));
    Viewer in_order(*source), jumping(*source);
    std::vector<std::string> frames;
    for (std::int64_t i = 0; i < source->size(); ++i) {
      frames.push_back(in_order.frame(i));
      ASSERT_EQ(frames.back().size(), std::size_t{3} * kWidth * kHeight);
      expect_means(frames.back(), std::string_view(means).substr(
                                      static_cast<std::size_t>(i) * 3 * kParts, 3 * kParts));
    }
    EXPECT_EQ(in_order.count("video.frames_decoded"), static_cast<double>(source->size()));
    for (std::int64_t i = 0; i < source->size(); ++i) {
      const std::int64_t sample = (5 + i * 7) % source->size();
      EXPECT_EQ(jumping.frame(sample), frames[static_cast<std::size_t>(sample)]) << sample;
    }
    EXPECT_GT(jumping.count("video.decoded_per_used"), 1);
  }
}

TEST_F(Video, DecodesFromKeyFrameOrContinues) {
  const auto source = open(fixture("videos/right/1.mp4"));  // one key frame, 30 frames
  EXPECT_EQ(value_of(source->metrics(), "video.key_distance"), 30);
  Viewer viewer(*source);
  viewer.frame(20);
  EXPECT_EQ(viewer.count("video.frames_decoded"), 21);
  viewer.frame(25);
  EXPECT_EQ(viewer.count("video.frames_decoded"), 26);
  viewer.frame(25);
  EXPECT_EQ(viewer.count("video.frames_decoded"), 52);
  viewer.frame(0);
  EXPECT_EQ(viewer.count("video.frames_decoded"), 53);
  EXPECT_EQ(viewer.count("video.frames_used"), 4);
  EXPECT_EQ(viewer.count("video.seeks"), 3);
  const auto groups = open(fixture("videos/left/0.mp4"));  // a key frame every 8
  Viewer other(*groups);
  other.frame(18);
  EXPECT_LE(other.count("video.frames_decoded"), 3);
}

TEST_F(Video, ReadsEveryNthFrameOfFolder) {
  const auto source = open(fixture("videos"), {{"every", "10"}});
  EXPECT_EQ(source->size(), 2 + 2 + 2 + 3);  // left, open, vp9, right
  EXPECT_THAT(source->describe(1), HasSubstr("videos/left/0.mp4: frame 10"));
  EXPECT_THAT(source->describe(8), HasSubstr("videos/right/1.mp4: frame 20"));
  EXPECT_EQ(Viewer(*source).frame(1), Viewer(*open(fixture("videos/left/0.mp4"))).frame(10));
  EXPECT_THAT(error_message<UsageError>([] {
                open(fixture("videos"), {{"every", "0"}});
              }),
              HasSubstr("every=0: expected a whole number, 1 or more"));
}

TEST_F(Video, KeepsIndexUntilFileChanges) {
  const TempFolder data, cache;
  const std::string path = data.write("0.mp4", content_of_fixture("videos/left/0.mp4"));
  data.age();
  SourceOptions options;
  options.paths = {path};
  options.cache_folder = cache.path();
  EXPECT_EQ(open_video(options, {})->size(), 20);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(cache.path()), {}), 1);
  EXPECT_EQ(open_video(options, {})->size(), 20);
  data.write("0.mp4", content_of_fixture("videos/right/1.mp4"));
  EXPECT_EQ(open_video(options, {})->size(), 30);
}

TEST_F(Video, RejectsFilesWithoutFrames) {
  const TempFolder data;
  EXPECT_THAT(why_not(data.write("0.mp4", "no video")), HasSubstr("is no video file that can be"));
  EXPECT_THAT(why_not(data.write("0.mp4", "")), HasSubstr("copy it again"));
  EXPECT_THAT(why_not(data.write("0.mp4", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nx.ts\n")),
              HasSubstr("is no video file that can be read"));
  EXPECT_THAT(why_not(fixture("videos/bad/sound.m4a")), HasSubstr("holds no video"));
  EXPECT_THAT(why_not(fixture("videos/bad")), HasSubstr("holds no files named *.mp4"));
  EXPECT_THAT(why_not(data / "x.mp4"), HasSubstr("cannot be opened"));
}

// Opens a file and decodes its frames. Errors are fine, a crash is not.
void use_all(const std::string& path) {
  try {
    const auto source = open(path);
    Viewer viewer(*source);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(source->size(), 64); ++i) {
      try {
        viewer.frame(i * 7 % source->size());
      } catch (const SampleError& error) {
        EXPECT_NE(std::string(error.what()), "");
      }
    }
  } catch (const RunError&) {
  }
}

TEST_F(Video, SurvivesCutAndDamagedFiles) {
  const TempFolder data;
  for (const char* name : {"videos/left/0.mp4", "videos/other/open.mkv", "videos/other/vp9.webm"}) {
    const std::string whole = content_of_fixture(name);
    const std::string ending = std::string(name).substr(std::string(name).rfind('.'));
    for (std::size_t size = 0; size < whole.size(); size += 191)
      use_all(data.write("cut" + ending, whole.substr(0, size)));
    std::string changed = whole;
    for (std::size_t i = 0; i < changed.size(); i += 23) {
      changed[i] = static_cast<char>(changed[i] ^ 0x55);
      use_all(data.write("changed" + ending, changed));
      changed[i] = whole[i];
    }
  }
}

TEST_F(Video, RejectsFrameLargerThanSampleLimit) {
  SourceOptions options = without_cache({fixture("videos/right/1.mp4")});
  options.largest_sample = 1500;
  const auto source = open_video(options, {});
  Viewer viewer(*source);
  EXPECT_EQ(viewer.frame(0).size(), std::size_t{3} * kWidth * kHeight);
  EXPECT_THAT(error_message<SampleError>([&] { viewer.frame(29); }),
              HasSubstr("needs more than the"));
  EXPECT_EQ(viewer.frame(1).size(), std::size_t{3} * kWidth * kHeight);
}

TEST_F(Video, RejectsAbsurdSizesBeforeAllocation) {
  const TempFolder data;
  std::string bytes = content_of_fixture("videos/left/0.mp4");
  const std::size_t entry = bytes.rfind("avc1");
  ASSERT_NE(entry, bytes.npos);
  const auto with_sides = [&](std::string_view side) {
    bytes.replace(entry + 28, 2, side);
    bytes.replace(entry + 30, 2, side);
    return data.write("0.mp4", bytes);
  };
  EXPECT_THAT(why_not(with_sides("\xff\xff")), HasSubstr("its codec cannot be set up"));
  const auto large = open(with_sides("\x3a\x98"));
  EXPECT_THAT(error_message<SampleError>([&] { Viewer(*large).frame(0); }), HasSubstr("178956970"));
  const auto other = open(with_sides("\x01\x10"));
  EXPECT_THAT(error_message<SampleError>([&] { Viewer(*other).frame(0); }),
              HasSubstr("it has 48 x 32 pixels where its video has 272 x 272"));
}

// A measurement repeats the same work.
TEST_F(Video, DecodesWholeVideoAgain) {
  for (const char* name : {"left/0.mp4", "right/1.mp4", "other/open.mkv", "other/vp9.webm"}) {
    const std::string path = fixture(std::string("videos/") + name);
    const auto loop = make_video_loop(path, false);
    const std::int64_t frames = open(path)->size();
    EXPECT_EQ(loop->decode(), frames) << name;
    EXPECT_EQ(loop->decode(), frames) << name;
  }
  EXPECT_THROW(make_video_loop(fixture("videos/bad/sound.m4a"), false), RunError);
}

}  // namespace
}  // namespace loaderscope::source
