// Arrow files: as libraries wrote them, and damaged ones.
#include "source/arrow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "container_bytes.h"
#include "fixtures.h"
#include "loaderscope/errors.h"
#include "source/page_codec.h"
#include "source/registry.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

bool has_codec(std::int64_t codec) {
  try {
    arrow_codec(codec);
    return true;
  } catch (const ValueError&) {
    return false;
  }
}
constexpr std::int64_t kArrowLz4 = 0, kArrowZstd = 1;

struct Arrow : testing::Test {
  TempFolder data;

  void SetUp() override {
    if (source_row("arrow").open == nullptr) GTEST_SKIP() << "built without FlatBuffers";
  }
  static std::unique_ptr<Source> open_paths(const std::vector<std::string>& paths,
                                            const FormatParameters& words = {},
                                            bool classes = false) {
    SourceOptions options = without_cache(paths);
    options.words = words;
    options.classes = classes;
    return source_row("arrow").open(options, {});
  }
  static std::unique_ptr<Source> open(const std::string& name, const FormatParameters& words = {},
                                      bool classes = false) {
    return open_paths({fixture("arrow/" + name)}, words, classes);
  }
  // "file.arrow?image"
  static std::unique_ptr<Source> open_column(const std::string& name) {
    const auto mark = name.find('?');
    return open(name.substr(0, mark), {{"column", name.substr(mark + 1)}});
  }
  std::string why_not(const std::string& bytes, const FormatParameters& words = {}) {
    return error_message<RunError>([&] { open_paths({data.write("0.arrow", bytes)}, words); });
  }
  void read_some(const std::string& bytes);
};

void Arrow::read_some(const std::string& bytes) {
  for (const bool classes : {false, true}) {
    try {
      const auto source =
          open_paths({data.write("0.arrow", bytes)}, {{"column", "image"}}, classes);
      const auto reader = source->make_reader();
      for (std::int64_t i = 0; i < std::min<std::int64_t>(source->size(), 8); ++i) {
        try {
          reader->read(i);
        } catch (const SampleError&) {
        }
      }
    } catch (const RunError&) {
    }
  }
}

std::vector<std::string> all_samples(const Source& source) {
  std::vector<std::string> samples;
  const auto reader = source.make_reader();
  for (std::int64_t i = 0; i < source.size(); ++i) samples.push_back(read_sample(*reader, i));
  return samples;
}

TEST_F(Arrow, ReadsFilesAndStreamsOfLibrary) {
  for (const char* name : {"file.arrow?image", "stream.arrow?image", "large.arrow?photo"}) {
    const auto source = open_column(name);
    expect_fixture_images(*source);
    EXPECT_THAT(source->describe(4), HasSubstr("record batch 1, row 1")) << name;
    EXPECT_TRUE(source->details().empty());
  }
}

TEST_F(Arrow, ReadsPackedBatchesAsWhole) {
  for (const auto& [name, codec] : {std::pair("lz4", kArrowLz4), std::pair("zstd", kArrowZstd)}) {
    if (!has_codec(codec)) continue;
    const auto source = open_column(std::string(name) + ".arrow?image");
    expect_fixture_images(*source);
    ASSERT_EQ(source->details().size(), 1U);
    EXPECT_EQ(source->details().front().text, name);
    EXPECT_THAT(source->notes(), ElementsAre(HasSubstr("record batches of 3 rows, packed")));
    EXPECT_THAT(all_samples(*open(std::string(name) + ".arrow", {}, true)),
                ElementsAre("0", "1", "2", "0", "1", "2", "0"));
  }
}

// Only what is asked for is read: of a batch the bytes of one value.
TEST_F(Arrow, ReadsOnlyTheValueIfUnpacked) {
  const auto source = open_column("file.arrow?image");
  source->make_reader()->read(5);
  const auto size = static_cast<double>(content_of_fixture("images/5.jpg").size());
  EXPECT_EQ(value_of(source->metrics(), "source.bytes_brought"), size);
}

TEST_F(Arrow, ReadsClassesFromNamedColumn) {
  EXPECT_THAT(all_samples(*open("file.arrow", {}, true)),
              ElementsAre("0", "1", "2", "0", "1", "2", "0"));
  EXPECT_EQ(all_samples(*open("stream.arrow", {{"label", "name"}}, true))[3], "class 1");
  EXPECT_THAT(error_message<RunError>([] {
                open("file.arrow", {{"label", "truth"}}, true);
              }),
              HasSubstr("has truth in the column truth, and classes are whole numbers or text"));
}

TEST_F(Arrow, ReadsValuesOfDictionaries) {
  for (const char* name : {"grown.arrow", "grown_stream.arrow", "replaced.arrow",
                           "dictionary_lz4.arrow", "dictionary_zstd.arrow"}) {
    SCOPED_TRACE(name);
    if (std::string_view(name).ends_with("lz4.arrow") && !has_codec(kArrowLz4)) continue;
    if (std::string_view(name).ends_with("zstd.arrow") && !has_codec(kArrowZstd)) continue;
    expect_fixture_images(*open(name));
    EXPECT_THAT(
        all_samples(*open(name, {}, true)),
        ElementsAre("class 0", "class 1", "class 2", "class 0", "class 1", "class 2", "class 0"));
  }
}

// Only what is asked for is read, wherever in the file it lies.
TEST_F(Arrow, ReadsOnlyTheValueOfDictionary) {
  for (const char* name : {"grown_stream.arrow", "views.arrow"}) {
    const auto source = open(name);
    source->make_reader()->read(5);
    const auto size = static_cast<double>(content_of_fixture("images/5.jpg").size());
    EXPECT_EQ(value_of(source->metrics(), "source.bytes_brought"), size) << name;
  }
}

TEST_F(Arrow, ReadsViews) {
  for (const char* name : {"views.arrow", "views_stream.arrow"}) {
    SCOPED_TRACE(name);
    expect_fixture_images(*open(name));
    const auto labels = open(name, {}, true);
    const auto reader = labels->make_reader();
    EXPECT_EQ(read_sample(*reader, 3), "short");
    EXPECT_EQ(read_sample(*reader, 5), "longer than 12 bytes");
    EXPECT_THROW(reader->read(4), SampleError);
  }
}

TEST_F(Arrow, NamesUnsupportedEncodings) {
  if (!has_codec(kArrowZstd)) GTEST_SKIP() << "built without zstd";
  EXPECT_THAT(error_message<RunError>([] { open("grown_zstd.arrow"); }),
              HasSubstr("has a packed dictionary that continues, which is not read; write it "
                        "without compression, or as a whole"));
  EXPECT_THAT(error_message<RunError>([] { open("views_zstd.arrow"); }),
              HasSubstr("has views in its column that are packed, which are not read; write it "
                        "without compression, or as binary"));
  EXPECT_THAT(error_message<RunError>([] {
                open("views.arrow", {{"label", "few"}}, true);
              }),
              HasSubstr("has a dictionary of whole numbers in the column few"));
}

TEST_F(Arrow, ReadsHuggingFaceDataSetInOrder) {
  const auto source = open("saved/train");
  expect_fixture_images(*source);
  EXPECT_EQ(source->stored_objects()->objects(), 2);
  EXPECT_THAT(all_samples(*open("saved/train", {}, true)),
              ElementsAre("0", "1", "2", "0", "1", "2", "0"));
  EXPECT_THAT(
      error_message<RunError>([] { open("saved"); }),
      AllOf(HasSubstr("holds the splits train; give one of them"), HasSubstr("saved/train")));
}

TEST_F(Arrow, LimitsTheDepthOfTheStateOfAFolder) {
  data.write("state.json",
             R"({"_data_files": )" + std::string(400'000, '[') + std::string(400'000, ']') + "}");
  EXPECT_THAT(error_message<RunError>([&] { open_paths({data.path()}); }),
              HasSubstr("state.json: is nested deeper than 64 levels of JSON"));
}

// The file of indices comes from shuffle(seed=3) of `datasets`: images 5, 4, ... come first.
TEST_F(Arrow, FollowsOrderOfIndices) {
  const std::string file = fixture("arrow/cache-shuffled.arrow");
  const auto source = open("saved/train", {{"indices", file}});
  const auto in_order = all_samples(*open("saved/train")), shuffled = all_samples(*source);
  EXPECT_NE(shuffled, in_order);
  EXPECT_THAT(shuffled, testing::UnorderedElementsAreArray(in_order));
  EXPECT_THAT(source->notes(),
              ElementsAre(HasSubstr("7 samples in the order of a file of indices")));
  EXPECT_THAT(
      error_message<RunError>([&] {
        open("nulls_none.arrow", {{"column", "few"}, {"indices", fixture("arrow/file.arrow")}});
      }),
      HasSubstr("has no column indices"));
}

TEST_F(Arrow, IgnoresFilesThatMapLeftInCache) {
  std::filesystem::copy(fixture("arrow/saved/train/data-00000-of-00002.arrow"), data.path());
  std::filesystem::copy(fixture("arrow/cache-shuffled.arrow"), data.path());
  EXPECT_EQ(open_paths({data.path()})->size(), 4);
}

TEST_F(Arrow, RejectsNullsAndEmptyValues) {
  for (const char* name : {"nulls_none.arrow", "nulls_zstd.arrow"}) {
    if (std::string_view(name) == "nulls_zstd.arrow" && !has_codec(kArrowZstd)) continue;
    EXPECT_THAT(error_message<RunError>([&] { open(name); }),
                HasSubstr("several columns of bytes: few, image"));
    for (const char* column : {"few", "image"}) {
      const auto source = open(name, {{"column", column}});
      const auto reader = source->make_reader();
      ASSERT_EQ(source->size(), 7);
      EXPECT_EQ(read_sample(*reader, 2), "two");
      EXPECT_EQ(read_sample(*reader, 6), "three");
      for (const std::int64_t i : {1, 3, 4}) EXPECT_THROW(reader->read(i), SampleError) << i;
      EXPECT_EQ(read_sample(*reader, 5), "one");
    }
  }
}

TEST_F(Arrow, RejectsForeignAndCutFiles) {
  const std::string file = content_of_fixture("arrow/file.arrow"),
                    stream = content_of_fixture("arrow/stream.arrow");
  EXPECT_THAT(why_not(""), HasSubstr("is no Arrow file"));
  EXPECT_THAT(why_not("ARROW1"), HasSubstr("does not end with ARROW1"));
  EXPECT_THAT(why_not("ARROW2 and more than that"), HasSubstr("is no Arrow file"));
  EXPECT_THAT(why_not(file.substr(0, file.size() - 1)), HasSubstr("is cut off"));
  EXPECT_THAT(why_not(stream.substr(0, stream.size() / 2), {{"column", "image"}}),
              HasSubstr("is cut off"));
  EXPECT_THAT(why_not(file, {{"column", "label"}}),
              HasSubstr("has whole numbers in the column label, and images are bytes"));
  EXPECT_THAT(why_not(file, {{"column", "many.item"}}), HasSubstr("has lists in the column"));
  EXPECT_THAT(why_not(content_of_fixture("arrow/cache-shuffled.arrow")),
              HasSubstr("has no column of bytes, which images are, only indices"));
}

TEST_F(Arrow, SurvivesChangedBytes) {
  for (const char* name : {"file.arrow", "stream.arrow", "lz4.arrow", "zstd.arrow", "grown.arrow",
                           "replaced.arrow", "dictionary_zstd.arrow", "views.arrow"}) {
    const std::string good = content_of_fixture(std::string("arrow/") + name);
    for (std::size_t i = 0; i < good.size(); i += 41) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
      read_some(bytes);
    }
  }
}

}  // namespace
}  // namespace loaderscope::source
