// The classes of samples, as other people's libraries have stored them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "container_bytes.h"
#include "fixtures.h"
#include "lmdb_writer.h"
#include "loaderscope/errors.h"
#include "source/registry.h"
#include "source/table_columns.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Source> open_classes(std::string_view row, const std::string& path,
                                     const FormatParameters& words = {}) {
  SourceOptions options = without_cache({path});
  options.words = words;
  options.classes = true;
  return source_row(row).open(options, {});
}

std::vector<std::string> read_classes(std::string_view row, const std::string& path,
                                      const FormatParameters& words = {}) {
  const auto source = open_classes(row, path, words);
  const auto reader = source->make_reader();
  std::vector<std::string> classes;
  for (std::int64_t i = 0; i < source->size(); ++i) classes.push_back(read_sample(*reader, i));
  return classes;
}

const std::vector<std::string> kThousands = {"1000", "1001", "1002", "1003",
                                             "1004", "1005", "1006"};
const std::vector<std::string> kCounted = {"0", "1", "2", "3", "4", "5", "6"};

// Inspecting the data continues without classes. Only a named feature is a usage error.
TEST(Classes, RejectsWholeRecords) {
  const std::string path = fixture("images.tfrecord");
  EXPECT_THAT(error_message<RunError>([&] {
                open_classes("tfrecord", path, {{"value", "raw"}});
              }),
              HasSubstr("images.tfrecord: whole records have no classes"));
  EXPECT_THAT(error_message<UsageError>([&] {
                open_classes("tfrecord", path, {{"value", "raw"}, {"label", "x"}});
              }),
              HasSubstr("label is of value=example; leave one of them out"));
}

TEST(Classes, ReadsColumnOfItems) {
  EXPECT_EQ(read_classes("mds", fixture("mds")), kThousands);
  EXPECT_EQ(read_classes("mds", fixture("mds_zstd"), {{"label", "class"}}), kThousands);
  EXPECT_EQ(read_classes("litdata", fixture("litdata")), kThousands);
  const auto notes = open_classes("mds", fixture("mds"), {{"label", "note"}});
  EXPECT_EQ(read_sample(*notes->make_reader(), 3), "nnn");
  EXPECT_THAT(error_message<RunError>([] {
                open_classes("mds", fixture("mds"), {{"label", "image"}});
              }),
              HasSubstr("has jpeg in the column image, and classes are whole numbers or text"));
  EXPECT_THAT(error_message<RunError>([] { open_classes("mds", fixture("mds_pixels")); }),
              HasSubstr("has no column that is called as classes are; choose one with ?label="));
}

TEST(Classes, ReadsFeatureOfRecords) {
  if (no_crc32c()) GTEST_SKIP() << *no_crc32c();
  EXPECT_EQ(read_classes("tfrecord", fixture("images.tfrecord")), kCounted);
  EXPECT_EQ(read_classes("tfrecord", fixture("images.tfrecord"), {{"label", "image/filename"}})[2],
            "2.jpg");
}

TEST(Classes, ReadsNumbersOfParquetColumn) {
  for (const char* name : {"snappy", "zstd", "gzip"}) {
    try {
      EXPECT_EQ(read_classes("parquet", fixture(std::string("parquet/") + name + ".parquet")),
                kCounted);
    } catch (const RunError& error) {
      EXPECT_THAT(error.what(), HasSubstr("built without"));
    }
  }
}

TEST(Classes, ReadsLabelsOfDatums) {
  if (source_row("lmdb").open == nullptr) GTEST_SKIP() << "built without LMDB";
  const TempFolder data;
  std::string datum;
  protozero::pbf_writer(datum).add_bytes(4, "image");
  protozero::pbf_writer(datum).add_int32(5, 42);
  write_lmdb(data / "0.mdb", {{"a", datum}});
  EXPECT_THAT(read_classes("lmdb", data / "0.mdb", {{"value", "datum"}}), ElementsAre("42"));
  EXPECT_THROW(open_classes("lmdb", data / "0.mdb"), RunError);
}

TEST(Classes, RecognisesClassNamesAndSpellsNumbers) {
  EXPECT_EQ(rank_of_class_name("image/class/label"), 0);
  EXPECT_LT(rank_of_class_name("label"), rank_of_class_name("fine_label"));
  EXPECT_EQ(rank_of_class_name("labelled"), -1);
  ClassText text;
  const auto spelt = [&](std::uint64_t number, std::size_t bytes, bool is_signed) {
    const auto all = std::as_bytes(std::span(&number, 1));
    const auto digits = text.to_text(all.first(bytes), is_signed);
    return std::string(reinterpret_cast<const char*>(digits.data()), digits.size());
  };
  EXPECT_EQ(spelt(255, 1, true), "-1");
  EXPECT_EQ(spelt(255, 1, false), "255");
  EXPECT_EQ(spelt(~std::uint64_t{0}, 8, false), "18446744073709551615");
}

}  // namespace
}  // namespace loaderscope::source
