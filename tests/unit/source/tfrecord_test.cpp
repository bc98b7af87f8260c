// TFRecord files: as a library wrote them, and damaged ones.
#include "source/tfrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "container_bytes.h"
#include "fixtures.h"
#include "loaderscope/errors.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = SampleError::Kind;

struct Tfrecord : testing::Test {
  TempFolder data;

  std::unique_ptr<Source> open(const std::string& bytes, const FormatParameters& words = {}) {
    SourceOptions options = without_cache({data.write("0.tfrecord", bytes)});
    options.words = words;
    return open_tfrecord(options, {});
  }
  std::string why_not(const std::string& bytes, const FormatParameters& words = {}) {
    return error_message<RunError>([&] { open(bytes, words); });
  }
};

TEST(Crc32c, MatchesCastagnoliChecksum) {
  const auto unmasked = [](std::string_view text) {
    const std::uint32_t sum = masked_crc32c(std::as_bytes(std::span(text))) - 0xa282ead8u;
    return sum >> 17 | sum << 15;
  };
  EXPECT_EQ(unmasked("123456789"), 0xe3069283u);
  EXPECT_EQ(unmasked(std::string(32, '\0')), 0x8a9136aau);  // RFC 3720
  EXPECT_EQ(unmasked(""), 0u);
}

TEST_F(Tfrecord, ReadsFileOfLibrary) {
  const auto source = open(content_of_fixture("images.tfrecord"));
  expect_fixture_images(*source);
  EXPECT_THAT(source->notes(), ElementsAre("the feature image/encoded of each record is decoded"));
  EXPECT_THAT(source->describe(3), HasSubstr("0.tfrecord: record 3"));
}

TEST_F(Tfrecord, ChoosesFeatureByNameOrLength) {
  const std::string bytes =
      tfrecord_bytes(example_bytes({{"a", "short"}, {"b", "much longer"}, {"c", "other"}}));
  EXPECT_EQ(read_sample(*open(bytes)->make_reader(), 0), "much longer");
  EXPECT_EQ(read_sample(*open(bytes, {{"feature", "c"}})->make_reader(), 0), "other");
  EXPECT_THAT(error_message<SampleError>([&] {
                open(bytes, {{"feature", "d"}})->make_reader()->read(0);
              }),
              HasSubstr("no bytes in a feature d"));
  EXPECT_EQ(read_sample(*open(tfrecord_bytes("an image"), {{"value", "raw"}})->make_reader(), 0),
            "an image");
  EXPECT_THAT(error_message<UsageError>([&] {
                open(bytes, {{"value", "raw"}, {"feature", "a"}});
              }),
              HasSubstr("leave one of them out"));
  EXPECT_THAT(error_message<UsageError>([&] {
                open(bytes, {{"value", "datum"}});
              }),
              HasSubstr("expected example"));
}

TEST_F(Tfrecord, LosesOneRecordOrRejectsFileForChangedByte) {
  const std::string one = tfrecord_bytes(example_bytes({{"x", std::string(1000, 'x')}}));
  std::string bytes = one + one + one;
  bytes[one.size() + 500] = 'y';
  const auto source = open(bytes);
  ASSERT_EQ(source->size(), 3);
  const auto reader = source->make_reader();
  EXPECT_EQ(error_message<SampleError>([&] { reader->read(1); }), "its checksum is wrong");
  EXPECT_EQ(read_sample(*reader, 2), std::string(1000, 'x'));

  std::string length = one + one;
  length[one.size()] = 'y';
  EXPECT_THAT(why_not(length), HasSubstr("the checksum of a record's length is wrong"));
  EXPECT_THAT(why_not("JPEG and other things"), HasSubstr("is no TFRecord file"));
  EXPECT_THAT(why_not(""), HasSubstr("holds no record"));
  EXPECT_THAT(why_not("\x1f\x8b"), HasSubstr("is compressed (gzip)"));
}

TEST_F(Tfrecord, ReportsLastRecordOfCutFile) {
  const std::string one = tfrecord_bytes(example_bytes({{"x", std::string(1000, 'x')}}));
  for (const std::size_t size : {one.size() + 5, one.size() + 700, 2 * one.size() - 1}) {
    const auto source = open((one + one).substr(0, size));
    ASSERT_EQ(source->size(), 2) << size;
    const auto reader = source->make_reader();
    EXPECT_EQ(read_sample(*reader, 0), std::string(1000, 'x'));
    EXPECT_THAT(error_message<SampleError>([&] { reader->read(1); }),
                HasSubstr("should end at byte"));
  }
}

TEST_F(Tfrecord, SuggestsRawValueForOtherRecords) {
  const std::string bytes = tfrecord_bytes("\xff\xd8\xff no example");
  EXPECT_THAT(error_message<SampleError>([&] { open(bytes)->make_reader()->read(0); }),
              HasSubstr("value=raw"));
}

TEST_F(Tfrecord, KeepsIndexUntilFileChanges) {
  const std::string one = tfrecord_bytes(example_bytes({{"x", "1"}}));
  const std::string path = data.write("0.tfrecord", one);
  data.age();
  SourceOptions options;
  options.paths = {path};
  options.cache_folder = data / "cache";
  EXPECT_EQ(open_tfrecord(options, {})->size(), 1);
  ASSERT_FALSE(std::filesystem::is_empty(data / "cache"));
  EXPECT_EQ(open_tfrecord(options, {})->size(), 1);
  data.write("0.tfrecord", one + one);
  EXPECT_EQ(open_tfrecord(options, {})->size(), 2);
}

}  // namespace
}  // namespace loaderscope::source
