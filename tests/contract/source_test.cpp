// Checks the contract of every source, in every format and with every file access.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "source/compression.h"
#include "source/registry.h"
#include "unit/dataset/contents.h"
#include "unit/source/access_names.h"
#if __has_include(<flatbuffers/flatbuffers.h>)
#include "unit/source/arrow_writer.h"
#endif
#include "record/family_traits.h"
#include "unit/source/container_bytes.h"
#include "unit/source/fixtures.h"
#include "unit/source/hdf5_writer.h"
#include "unit/source/lmdb_writer.h"
#include "unit/source/packed_bytes.h"
#include "unit/source/parquet_writer.h"
#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kSamples = 50;

std::string bytes_of_sample(std::int64_t sample) {
  return std::string(static_cast<std::size_t>(1 + (sample * 7919) % 20'000),
                     static_cast<char>('a' + sample % 26));
}

// A data set of samples 0 .. kSamples - 1, in this order, in a format of the table.
struct Format {
  std::string_view row;
  std::string what;  // suffix that separates formats of one row; may be ""
  std::function<void(const source::TempFolder&, SourceOptions&)> make;
  std::function<std::string(std::int64_t)> bytes;
};

void make_folder(const source::TempFolder& data, SourceOptions& options) {
  for (std::int64_t i = 0; i < kSamples; ++i) {
    data.write("c" + std::to_string(i / 10) + "/" + std::to_string(i) + ".jpg", bytes_of_sample(i));
  }
  options.paths = {data.path()};
}

void make_manifest(const source::TempFolder& data, SourceOptions& options) {
  std::string list = "path,label\n";
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::string name = std::to_string(i * 31 % kSamples) + ".png";
    data.write(name, bytes_of_sample(i));
    list += name + ",0\n";
  }
  options.index_file = data.write("list.csv", list);
}

// Makes two shards, which also have members that are not decoded.
void make_shards(const source::TempFolder& data, SourceOptions& options) {
  std::array<source::TarBytes, 2> shards;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    source::TarBytes& shard = shards[i < kSamples / 3 ? 0 : 1];
    const std::string key = "n01/" + std::to_string(1000 + i);
    shard.add(key + ".cls", "7");
    shard.add(key + ".jpg", bytes_of_sample(i));
  }
  for (std::size_t i = 0; i < shards.size(); ++i)
    data.write(std::to_string(i) + ".tar", shards[i].finish());
  options.paths = {data / "{0..1}.tar"};
}

std::string row_of_sample(std::int64_t sample) {
  return std::string(1000, static_cast<char>('a' + sample));
}

void make_arrays(const source::TempFolder& data, SourceOptions& options) {
  std::array<std::string, 2> rows;
  for (std::int64_t i = 0; i < kSamples; ++i) rows[i < 20 ? 0 : 1] += row_of_sample(i);
  data.write("0.npy", source::npy_bytes("<u2", "(20, 100, 5)", rows[0]));
  data.write("1.npy", source::npy_bytes("<u2", "(30, 100, 5)", rows[1]));
  options.paths = {data.path()};
}

void make_tokens(const source::TempFolder& data, SourceOptions& options) {
  std::array<std::string, 2> tokens;
  for (std::int64_t i = 0; i < kSamples; ++i) tokens[i < 20 ? 0 : 1] += row_of_sample(i);
  data.write("0.bin", tokens[0]);
  data.write("1.bin", tokens[1]);
  options.paths = {data.path()};
  options.words["length"] = "500";
}

// Makes two shards. `index` makes the text of their index file.
void make_item_shards(const source::TempFolder& data, SourceOptions& options,
                      const std::function<std::string(std::int64_t)>& item,
                      std::string (*index)(const std::vector<source::ItemShardFacts>&)) {
  std::array<std::vector<std::string>, 2> items;
  for (std::int64_t i = 0; i < kSamples; ++i) items[i < 20 ? 0 : 1].push_back(item(i));
  std::vector<source::ItemShardFacts> facts;
  for (const auto& shard : items) {
    const std::string file = "shard." + std::to_string(facts.size());
    const std::string bytes = source::item_shard(shard, "{}");
    data.write(file, bytes);
    facts.push_back({file, shard.size(), bytes.size()});
  }
  data.write("index.json", index(facts));
  options.paths = {data.path()};
}

void make_mds(const source::TempFolder& data, SourceOptions& options) {
  make_item_shards(
      data, options,
      [](std::int64_t i) {
        const std::string image = bytes_of_sample(i);
        return source::number_bytes(static_cast<std::uint32_t>(image.size())) +
               source::number_bytes(i) + image;
      },
      source::mds_index);
}

void make_litdata(const source::TempFolder& data, SourceOptions& options) {
  make_item_shards(
      data, options,
      [](std::int64_t i) {
        return source::make_item({bytes_of_sample(i), source::number_bytes(i)});
      },
      source::litdata_index);
}

void make_tfrecords(const source::TempFolder& data, SourceOptions& options) {
  std::array<std::string, 2> files;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    files[i < 20 ? 0 : 1] += source::tfrecord_bytes(
        source::example_bytes({{"image/filename", "n"}, {"image/encoded", bytes_of_sample(i)}}));
  }
  data.write("0.tfrecord", files[0]);
  data.write("1.tfrecord", files[1]);
  options.paths = {data.path()};
}

void make_parquet(const source::TempFolder& data, SourceOptions& options) {
  std::array<std::vector<std::string>, 2> values;
  for (std::int64_t i = 0; i < kSamples; ++i) values[i < 20 ? 0 : 1].push_back(bytes_of_sample(i));
  data.write("0.parquet", source::parquet_file_bytes(values[0]));
  data.write("1.parquet", source::parquet_file_bytes(values[1]));
  options.paths = {data.path()};
}

#if __has_include(<flatbuffers/flatbuffers.h>)
void make_arrow(const source::TempFolder& data, SourceOptions& options) {
  std::array<std::vector<std::string>, 2> values;
  for (std::int64_t i = 0; i < kSamples; ++i) values[i < 20 ? 0 : 1].push_back(bytes_of_sample(i));
  data.write("0.arrow", source::arrow_file_bytes(values[0]));
  data.write("1.arrow", source::arrow_file_bytes(values[1]));
  options.paths = {data.path()};
}
#endif

void make_hdf5(const source::TempFolder& data, SourceOptions& options) {
  std::array<std::string, 2> rows;
  for (std::int64_t i = 0; i < kSamples; ++i) rows[i < 20 ? 0 : 1] += row_of_sample(i);
  source::write_hdf5(data / "0.h5", rows[0], {20, 100, 10}, {3, 100, 10});
  source::write_hdf5(data / "1.h5", rows[1], {30, 100, 10}, {});
  options.paths = {data.path()};
}

void make_lmdb(const source::TempFolder& data, SourceOptions& options) {
  std::array<std::vector<std::pair<std::string, std::string>>, 2> files;
  for (std::int64_t i = 0; i < kSamples; ++i)
    files[i < 20 ? 0 : 1].emplace_back(std::to_string(1000 + i), bytes_of_sample(i));
  source::write_lmdb(data / "0.mdb", files[0]);
  source::write_lmdb(data / "1.mdb", files[1]);
  options.paths = {data / "0.mdb", data / "1.mdb"};
}

void make_videos(const source::TempFolder& data, SourceOptions& options) {
  data.write("0.mp4", source::content_of_fixture("videos/left/0.mp4"));
  data.write("1.mp4", source::content_of_fixture("videos/right/1.mp4"));
  options.paths = {data.path()};
}

// The bytes of a frame from a reader that has read no other frame.
std::string packets_of_frame(std::int64_t sample) {
  static const source::TempFolder data;
  static const std::unique_ptr<Source> videos = [] {
    SourceOptions options = source::without_cache({});
    make_videos(data, options);
    return source_row("video").open(options, {});
  }();
  return source::read_sample(*videos->make_reader(), sample);
}

const std::vector<Format>& formats() {
  static const std::vector<Format> kAll = {
    {"files", "", make_folder, bytes_of_sample},
    {"files", "_list", make_manifest, bytes_of_sample},
    {"tar", "", make_shards, bytes_of_sample},
    {"npy", "", make_arrays, row_of_sample},
    {"tokens", "", make_tokens, row_of_sample},
    {"mds", "", make_mds, bytes_of_sample},
    {"litdata", "", make_litdata, bytes_of_sample},
    {"tfrecord", "", make_tfrecords, bytes_of_sample},
    {"parquet", "", make_parquet, bytes_of_sample},
#if __has_include(<flatbuffers/flatbuffers.h>)
    {"arrow", "", make_arrow, bytes_of_sample},
#endif
    {"lmdb", "", make_lmdb, bytes_of_sample},
    {"hdf5", "", make_hdf5, row_of_sample},
    {"video", "", make_videos, packets_of_frame},
  };
  static const std::vector<Format> kBuilt = [] {
    std::vector<Format> built;
    std::copy_if(kAll.begin(), kAll.end(), std::back_inserter(built),
                 [](const Format& format) { return source_row(format.row).open != nullptr; });
    return built;
  }();
  return kBuilt;
}

struct WayToOpen {
  const Format* format;
  FileAccess access;
};

struct SourceContract : testing::TestWithParam<WayToOpen> {
  source::TempFolder data;
  std::unique_ptr<Source> source = open();

  std::unique_ptr<Source> open() const {
    SourceOptions options = source::without_cache({});
    options.access = GetParam().access;
    GetParam().format->make(data, options);
    return source_row(GetParam().format->row).open(options, {});
  }
  static std::string expected_bytes(std::int64_t sample) {
    return GetParam().format->bytes(sample);
  }
  static void expect_all_read(const Source& source, std::int64_t first);
  void expect_in_objects() const;
};

void SourceContract::expect_in_objects() const {
  const Objects* objects = source->stored_objects();
  ASSERT_NE(objects, nullptr);
  std::string first, last;
  objects->get_path(0, first);
  objects->get_path(objects->objects() - 1, last);
  EXPECT_TRUE(source->describe(0).starts_with(first)) << source->describe(0);
  EXPECT_TRUE(source->describe(kSamples - 1).starts_with(last)) << source->describe(kSamples - 1);
}

// Reads all samples after a hint of their order whose second half is wrong.
void SourceContract::expect_all_read(const Source& source, std::int64_t first) {
  const auto reader = source.make_reader();
  std::vector<std::int64_t> hint;
  for (std::int64_t i = 0; i < kSamples; ++i)
    hint.push_back((first + i * (i < kSamples / 2 ? 13 : 7)) % kSamples);
  reader->expect(hint);
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::int64_t sample = (first + i * 13) % kSamples;
    const auto bytes = reader->read(sample);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
              expected_bytes(sample));
  }
}

TEST_P(SourceContract, ReadsEverySampleInAnyOrder) {
  ASSERT_EQ(source->size(), kSamples);
  expect_all_read(*source, 0);
}

TEST_P(SourceContract, ReadsInManyThreadsAtOnce) {
  std::vector<std::jthread> threads;
  for (std::int64_t i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] { expect_all_read(*source, i); });
  }
}

TEST_P(SourceContract, DescribesEverySampleDifferently) {
  std::set<std::string> names;
  for (std::int64_t i = 0; i < kSamples; ++i) names.insert(source->describe(i));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kSamples));
}

TEST_P(SourceContract, LocatesItsSamples) {
  const Extents* extents = source->extents();
  if (extents == nullptr) return expect_in_objects();  // a library reads them
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const Extent extent = extents->extent(i);
    ASSERT_LT(extent.object, extents->objects());
    std::string path;
    extents->get_path(extent.object, path);
    EXPECT_TRUE(source->describe(i).starts_with(path)) << source->describe(i);
    std::ifstream file(path, std::ios::binary);
    const bool is_whole = extent.length == Extent::kToEnd;
    std::string bytes(is_whole ? expected_bytes(i).size() : static_cast<std::size_t>(extent.length),
                      '\0');
    file.seekg(extent.offset);
    file.read(bytes.data(), std::ssize(bytes));
    EXPECT_NE(bytes.find(expected_bytes(i)), bytes.npos) << i;  // with more, in some formats
  }
}

TEST_P(SourceContract, ReportsOneSampleSizeForArrays) {
  const bool is_array = source_traits(GetParam().format->row).form == SampleForm::array;
  EXPECT_EQ(source->sample_bytes() > 0, is_array);
  for (std::int64_t i = 0; is_array && source->extents() != nullptr && i < kSamples; ++i)
    EXPECT_EQ(source->extents()->extent(i).length, source->sample_bytes());
}

// The reader stays usable after an error.
TEST_P(SourceContract, FailsOnlyForSamplesOfMissingObject) {
  const Objects* objects = source->stored_objects();
  std::string path;
  objects->get_path(0, path);
  std::filesystem::remove(path);
  const auto reader = source->make_reader();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(reader->read(0), SampleError);
    if (objects->objects() == 1) continue;
    EXPECT_EQ(reader->read(kSamples - 1).size(), expected_bytes(kSamples - 1).size());
  }
}

TEST_P(SourceContract, FailsOnlyForMissingSample) {
  if (source->extents() == nullptr) return;  // a library reads it, and finds what is missing
  const Extent extent = source->extents()->extent(3);
  std::string path;
  source->extents()->get_path(extent.object, path);
  if (extent.length == Extent::kToEnd) {
    std::filesystem::remove(path);
  } else {
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(extent.offset + 1));
  }
  const auto reader = source->make_reader();
  EXPECT_THROW(reader->read(3), SampleError);
  EXPECT_EQ(reader->read(2).size(), expected_bytes(2).size());
  EXPECT_THROW(reader->read(3), SampleError);
  EXPECT_EQ(reader->read(kSamples - 1).size(), expected_bytes(kSamples - 1).size());
}

std::vector<WayToOpen> all_cases() {
  std::vector<WayToOpen> cases;
  for (const Format& format : formats()) {
    for (const FileAccess access : source::all_accesses()) cases.push_back({&format, access});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Sources, SourceContract, testing::ValuesIn(all_cases()),
                         [](const auto& test) {
                           return std::string(test.param.format->row) + test.param.format->what +
                                  "_" + source::access_test_name(test.param.access);
                         });

// Makes a format that is also streamed, with the word "stream" after the path.
void make_streamed_shards(const source::TempFolder& data, SourceOptions& options) {
  make_shards(data, options);
  options.words = {{"stream", "1"}, {"shuffle", "7"}};
}

// Each way of packing packs the shards of one format.
Format packed_shards(const source::Packing& packing) {
  const auto make = [packing](const source::TempFolder& data, SourceOptions& options) {
    const source::TempFolder plain;
    make_streamed_shards(plain, options);
    for (const auto& shard : std::filesystem::directory_iterator(plain.path())) {
      data.write(shard.path().stem().string() + std::string(packing.ending),
                 packing.pack(dataset::file_content(shard.path())));
    }
    options.paths = {data.path()};
  };
  return {"tar", std::string(packing.row), make, bytes_of_sample};
}

const std::vector<Format>& streamed_formats() {
  static const std::vector<Format> kFormats = [] {
    std::vector<Format> formats = {{"tar", "", make_streamed_shards, bytes_of_sample}};
    for (const source::Packing& packing : source::packings())
      formats.push_back(packed_shards(packing));
    return formats;
  }();
  return kFormats;
}

TEST(CompressionTable, TestsEveryRowThatUnpacks) {
  for (const CompressionRow& row : compression_table()) {
    const bool has_packing =
        std::any_of(source::packings().begin(), source::packings().end(),
                    [&](const source::Packing& packing) { return packing.row == row.row.name; });
    EXPECT_EQ(row.make != nullptr, has_packing) << row.row.name;
    EXPECT_EQ(row.make == nullptr, row.row.reason_not_available().has_value()) << row.row.name;
  }
}

// Expects each sample once in an epoch, under the same number in every epoch.
void expect_once_an_epoch(const StreamSource& streams, const Format& format, std::int32_t workers) {
  SubstageListener listener;
  std::vector<std::unique_ptr<SampleStream>> all;
  for (std::int32_t i = 0; i < workers; ++i)
    all.push_back(streams.make_stream({0, 1, i, workers}, listener));
  std::map<std::int64_t, std::string> first_epoch;
  for (const std::int64_t epoch : {0, 1}) {
    std::map<std::int64_t, std::string> seen;
    std::multiset<std::string> bytes_seen, bytes_made;
    for (const auto& stream : all) {
      stream->begin_epoch(epoch);
      while (const auto bytes = stream->next()) {
        std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
        bytes_seen.insert(text);
        EXPECT_TRUE(seen.emplace(stream->sample(), std::move(text)).second);
        EXPECT_FALSE(stream->place().empty());
      }
      EXPECT_FALSE(stream->next().has_value());
    }
    for (std::int64_t i = 0; i < kSamples; ++i) bytes_made.insert(format.bytes(i));
    EXPECT_EQ(bytes_seen, bytes_made);
    if (epoch == 0) first_epoch = seen;
    EXPECT_EQ(seen, first_epoch);  // a sample keeps its number
  }
}

TEST(StreamContract, DeliversEverySampleOncePerEpoch) {
  for (const Format& format : streamed_formats()) {
    const source::TempFolder data;
    SourceOptions options = source::without_cache({});
    format.make(data, options);
    const auto source = source_row(format.row).open(options, {});
    ASSERT_NE(source->streams(), nullptr) << format.row;
    EXPECT_EQ(source->size(), Source::kUnknownSize);
    EXPECT_EQ(source->make_reader(), nullptr);
    EXPECT_NE(source->stored_objects(), nullptr);
    for (const std::int32_t workers : {1, 2, 5})
      expect_once_an_epoch(*source->streams(), format, workers);
  }
}

TEST(SourceTable, TestsEveryRowThatStreams) {
  for (const SourceRow& row : source_table()) {
    const bool streams = std::find(row.words.begin(), row.words.end(), "stream") != row.words.end();
    const bool has_format =
        std::any_of(streamed_formats().begin(), streamed_formats().end(),
                    [&](const Format& format) { return format.row == row.row.name; });
    EXPECT_EQ(streams, has_format) << row.row.name;
  }
}

TEST(SourceTable, TestsEveryRowThatOpens) {
  for (const SourceRow& row : source_table()) {
    const bool has_format =
        std::any_of(formats().begin(), formats().end(),
                    [&](const Format& format) { return format.row == row.row.name; });
    EXPECT_EQ(has_format, row.open != nullptr) << row.row.name;
    EXPECT_EQ(source_traits(row.row.name).form == SampleForm::declared ||
                  row.row.reason_not_available().has_value(),
              row.open == nullptr)
        << row.row.name;
  }
}

TEST(SourceTable, GivesEveryRowNameAndSentence) {
  std::set<std::string_view> names;
  for (const SourceRow& row : source_table()) {
    EXPECT_TRUE(names.insert(row.row.name).second);
    EXPECT_TRUE(row.row.help.ends_with("."));
  }
}

}  // namespace
}  // namespace loaderscope
