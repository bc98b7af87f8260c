// Shards of items: what mosaicml-streaming and LitData wrote, and what is damaged.
#include "source/items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "built_with.h"
#include "container_bytes.h"
#include "fixtures.h"
#include "loaderscope/errors.h"
#include "source/store.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = SampleError::Kind;

SourceOptions make_options(const std::string& path, const FormatParameters& words = {}) {
  SourceOptions options = without_cache({path});
  options.words = words;
  return options;
}
std::unique_ptr<Source> mds(const std::string& path, const FormatParameters& words = {}) {
  return open_mds(make_options(path, words), {});
}
std::unique_ptr<Source> litdata(const std::string& path, const FormatParameters& words = {}) {
  return open_litdata(make_options(path, words), {});
}
std::string why_no_mds(const std::string& path, const FormatParameters& words = {}) {
  return error_message<RunError>([&] { mds(path, words); });
}
double value_of(const Source& source, std::string_view metric) {
  for (const Metric& one : source.metrics()) {
    if (one.name == metric) return one.value;
  }
  return -1;
}

TEST(Items, ReadsShardsOfStreamingAndLitData) {
  expect_fixture_images(*mds(fixture("mds")));
  expect_fixture_images(*mds(fixture("mds/index.json"), {{"column", "image"}}));
  expect_fixture_images(*litdata(fixture("litdata")));
  expect_fixture_images(*litdata(fixture("litdata"), {{"column", "image"}, {"open", "sample"}}));
  EXPECT_THAT(mds(fixture("mds"))->describe(4), HasSubstr("/mds/shard.00001.mds: sample 1"));
}

// Since 0.2.74 LitData keeps rows of plain values as an Arrow file in each chunk.
TEST(Items, ReadsRowsInChunksOfLitData) {
  expect_fixture_images(*litdata(fixture("litdata_rows")));
  SourceOptions classes = make_options(fixture("litdata_rows"));
  classes.classes = true;
  const auto source = open_litdata(classes, {});
  EXPECT_EQ(read_sample(*source->make_reader(), 4), "1004");
  EXPECT_THAT(error_message<UsageError>([] {
                litdata(fixture("litdata_rows"), {{"open", "sample"}});
              }),
              HasSubstr("open=sample is for chunks of items"));
  EXPECT_THAT(error_message<UsageError>([] {
                litdata(fixture("litdata_rows"), {{"open", "never"}});
              }),
              HasSubstr("open=never: expected once"));
}

TEST(Items, RejectsDamagedRowsInChunksOfLitData) {
  TempFolder folder;
  const auto with_chunk = [&](const std::string& bytes) {
    std::filesystem::copy(fixture("litdata_rows"), folder / "data",
                          std::filesystem::copy_options::overwrite_existing |
                              std::filesystem::copy_options::recursive);
    std::ofstream(folder / "data/chunk-0-1.bin", std::ios::binary) << bytes;
    return error_message<RunError>([&] { litdata(folder / "data"); });
  };
  std::string chunk = text_of_object(fixture("litdata_rows/chunk-0-1.bin"), Bytes{1} << 20);
  std::string too_long = chunk;
  too_long.replace(chunk.size() - 12, 4, "\xff\xff\xff\x7f");
  EXPECT_THAT(with_chunk(too_long), HasSubstr("chunk-0-1.bin: is damaged: its rows should begin"));
  EXPECT_THAT(with_chunk(chunk.substr(0, chunk.size() / 2)), HasSubstr("chunk-0-1.bin: has items"));
  EXPECT_THAT(with_chunk(""), HasSubstr("chunk-0-1.bin: has items"));
  too_long = chunk;
  too_long.replace(chunk.size() - 12, 4, std::string("\x10\0\0\0", 4));
  EXPECT_THAT(with_chunk(too_long), HasSubstr("chunk-0-1.bin: is"));
}

TEST(Items, UsesOnlyTheDecodedColumn) {
  const auto source = mds(fixture("mds"));
  const auto reader = source->make_reader();
  const std::string image = read_sample(*reader, 3);
  // The class, two sizes and a note "nnn".
  EXPECT_EQ(reader->stored_bytes(), std::ssize(image) + 8 + 8 + 3);
  EXPECT_EQ(value_of(*source, "source.bytes_brought"), *reader->stored_bytes());
  EXPECT_EQ(value_of(*source, "source.bytes_of_samples"), std::ssize(image));
}

TEST(Items, OpensShardOnceOrForEachSample) {
  for (const auto& [word, opened] : {std::pair("once", 3), std::pair("sample", 7)}) {
    const auto source = mds(fixture("mds"), {{"open", word}});
    expect_fixture_images(*source);
    EXPECT_EQ(value_of(*source, "source.opened"), opened) << word;
  }
  EXPECT_THAT(error_message<UsageError>([] {
                mds(fixture("mds"), {{"open", "2"}});
              }),
              HasSubstr("expected once"));
}

TEST(Items, ConvertsPixelsToRawImages) {
  const auto pixels = mds(fixture("mds_pixels"), {{"column", "pixels"}});
  const std::string image = read_sample(*pixels->make_reader(), 2);
  ASSERT_EQ(image.size(), 16u + 9 * 7 * 3);
  EXPECT_EQ(image.substr(0, 8), std::string_view("LSRAW1\0\0", 8));
  EXPECT_EQ(image.substr(8, 8), number_bytes(9u) + number_bytes(7u));
  const std::string grey =
      read_sample(*mds(fixture("mds_pixels"), {{"column", "grey"}})->make_reader(), 2);
  ASSERT_EQ(grey.size(), image.size());
  for (std::size_t i = 16; i < grey.size(); i += 3) {
    EXPECT_EQ(grey[i], grey[i + 1]);
    EXPECT_EQ(grey[i], grey[i + 2]);
  }
  EXPECT_THAT(read_sample(*mds(fixture("mds_pixels"), {{"column", "png"}})->make_reader(), 0),
              testing::StartsWith("\x89PNG"));
}

void expect_unpacked(const Source& source, std::string_view codec) {
  expect_fixture_images(source);
  EXPECT_EQ(source.extents(), nullptr);
  ASSERT_NE(source.stored_objects(), nullptr);
  EXPECT_EQ(source.stored_objects()->objects(), 3);
  ASSERT_EQ(source.details().size(), 1u);
  EXPECT_EQ(source.details().front().text, codec);
  EXPECT_GT(value_of(source, "source.bytes_unpacked"), 0);
}

TEST(Items, UnpacksCompressedShardsOneAtATime) {
  if (built_with::kZstd.is_built) {
    expect_unpacked(*mds(fixture("mds_zstd")), "zstd");
    expect_unpacked(*litdata(fixture("litdata_zstd")), "zstd");
  }
  if (built_with::kZlib.is_built) expect_unpacked(*mds(fixture("mds_gz")), "gzip");
  EXPECT_THAT(why_no_mds(fixture("mds_br")), HasSubstr("is compressed by 'br', which is not read"));
  EXPECT_THAT(error_message<RunError>([] { litdata(fixture("litdata_batch")); }),
              HasSubstr("compressed by the batch"));
}

TEST(Items, FailsForEachSampleOfDamagedShard) {
  if (!built_with::kZstd.is_built) GTEST_SKIP() << "built without zstd";
  const TempFolder data;
  std::filesystem::copy(fixture("mds_zstd"), data.path());
  std::filesystem::resize_file(data / "shard.00001.mds.zstd", 900);
  const auto source = mds(data.path());
  const auto reader = source->make_reader();
  for (const std::int64_t i : {3, 4, 5, 3}) {
    try {
      reader->read(i);
      ADD_FAILURE() << i;
    } catch (const SampleError& error) {
      EXPECT_EQ(error.kind, Kind::truncated);
      EXPECT_THAT(error.what(), HasSubstr("zstd data end early"));
    }
  }
  EXPECT_EQ(value_of(*source, "source.opened"), 1);  // one open for all failed reads
  EXPECT_EQ(read_sample(*reader, 6), content_of_fixture("images/6.jpg"));
}

struct DamagedItems : testing::Test {
  TempFolder data;
  std::string why_not(const std::string& shard, std::size_t items) {
    data.write("0.mds", shard);
    data.write("index.json", mds_index({{"0.mds", items, shard.size()}}));
    return why_no_mds(data.path());
  }
  std::string why_not_sample(const std::string& item) {
    const std::string shard = item_shard({item});
    EXPECT_EQ(why_not(shard, 1), "");
    return error_message<SampleError>([&] { mds(data.path())->make_reader()->read(0); });
  }
};

TEST_F(DamagedItems, FailsToOpenDamagedShards) {
  const std::string shard = item_shard({std::string(20, 'a'), std::string(30, 'b')});
  EXPECT_EQ(why_not(shard, 2), "");
  EXPECT_THAT(why_not(shard, 3), HasSubstr("has 2 samples, and index.json says 3"));
  EXPECT_THAT(why_not(shard.substr(0, 10), 2), HasSubstr("is cut off"));
  EXPECT_THAT(why_not("", 1), HasSubstr("has 0 samples"));
  std::string disordered = shard;
  disordered[8] = 127;
  EXPECT_THAT(why_not(disordered, 2), HasSubstr("do not follow one another"));
  std::filesystem::remove(data / "0.mds");
  EXPECT_THAT(why_no_mds(data.path()), HasSubstr("index.json names it"));
}

TEST_F(DamagedItems, ReportsDamagedSamplesOneByOne) {
  const std::string number(8, '\0');
  EXPECT_EQ(why_not_sample(number_bytes(3u) + number + "abc"), "");
  EXPECT_THAT(why_not_sample(number_bytes(4u) + number + "abc"),
              HasSubstr("has 15 bytes, and its columns have 16"));
  EXPECT_THAT(why_not_sample("ab"), HasSubstr("ends within the sizes"));
  EXPECT_THAT(why_not_sample(number_bytes(0u) + number), HasSubstr("is empty"));
}

TEST(ItemIndexes, RejectsImpossibleIndexes) {
  const auto why = [](const std::string& text) {
    return error_message<ValueError>([&] { parse_mds_index(text); });
  };
  const std::string good = mds_index({{"0.mds", 1, 100}});
  EXPECT_EQ(why(good), "");
  EXPECT_THAT(why(""), HasSubstr("it holds no object"));
  EXPECT_THAT(why(R"({"shards": []})"), HasSubstr("'shards' is no list"));
  const auto with = [&](std::string_view old, std::string_view other) {
    std::string text = good;
    return text.replace(text.find(old), old.size(), other);
  };
  EXPECT_THAT(why(with("0.mds", "../0.mds")), HasSubstr("no file below its folder"));
  EXPECT_THAT(why(with("0.mds", "/etc/passwd")), HasSubstr("no file below its folder"));
  EXPECT_THAT(why(with("\"samples\": 1", "\"samples\": -1")), HasSubstr("no number of a shard"));
  EXPECT_THAT(why(with("\"format\": \"mds\"", "\"format\": \"csv\"")), HasSubstr("are 'csv'"));
  EXPECT_THAT(why(with("[8, null]", "[8]")), HasSubstr("unequal numbers"));
  EXPECT_THAT(error_message<ValueError>([] {
                parse_litdata_index(R"({"chunks": [], "config": {"data_format": ["int"],
                    "data_spec": null, "item_loader": "TokensLoader"}})");
              }),
              HasSubstr("of a TokensLoader"));
}

TEST(ItemIndexes, LimitsDepthOfJson) {
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  EXPECT_THROW(parse_mds_index(R"({"shards": )" + deep + "}"), ValueError);
  EXPECT_THROW(parse_litdata_index(R"({"chunks": [], "config": {"data_format": ["int"],
                   "data_spec": ")" +
                                   deep + R"("}})"),
               ValueError);
}

TEST(ItemIndexes, NamesColumnsIfNoneIsAnImage) {
  EXPECT_THAT(why_no_mds(fixture("mds"), {{"column", "picture"}}),
              HasSubstr("has no column picture, only class (int), image (jpeg), note (str);"
                        " choose one with ?column=NAME"));
  EXPECT_THAT(why_no_mds(fixture("mds"), {{"column", "class"}}), HasSubstr("is no image"));
  EXPECT_THAT(why_no_mds(fixture("images")), HasSubstr("index.json: cannot be read"));
}

}  // namespace
}  // namespace loaderscope::source
