// Parquet files: as a library wrote them, and damaged ones.
#include "source/parquet.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "fixtures.h"
#include "loaderscope/errors.h"
#include "parquet_writer.h"
#include "source/page_codec.h"
#include "source/thrift.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = SampleError::Kind;

constexpr std::int64_t kSnappy = 1, kGzip = 2, kZstd = 6, kLz4 = 7;

bool is_built(std::int64_t codec) {
  try {
    page_codec(codec);
    return true;
  } catch (const ValueError&) {
    return false;
  }
}

struct Parquet : testing::Test {
  TempFolder data;

  std::unique_ptr<Source> open(const std::string& bytes, const FormatParameters& words = {},
                               Bytes largest = Bytes{1} << 30) {
    SourceOptions options = without_cache({data.write("0.parquet", bytes)});
    options.words = words;
    options.largest_sample = largest;
    return open_parquet(options, {});
  }
  std::string why_not(const std::string& bytes, const FormatParameters& words = {}) {
    return error_message<RunError>([&] { open(bytes, words); });
  }
  void read_some(const std::string& bytes, const std::string& column);
  static double metric(const Source& source, std::string_view name) {
    return value_of(source.metrics(), name).value_or(-1);
  }
  // One group of such pages.
  std::unique_ptr<Source> open_pages(const std::string& pages, std::int64_t rows,
                                     std::int64_t codec = 0) {
    return open(parquet_bytes({{pages, rows, codec}}));
  }
};

// Samples, as far as there are any.
void Parquet::read_some(const std::string& bytes, const std::string& column) {
  std::unique_ptr<Source> source;
  try {
    source = open(bytes, {{"column", column}});
  } catch (const RunError&) {
    return;
  }
  const auto reader = source->make_reader();
  for (std::int64_t i = 0; i < std::min<std::int64_t>(source->size(), 8); ++i) {
    try {
      reader->read(i);
    } catch (const SampleError&) {
    }
  }
}

std::string sample_error(const Source& source, std::int64_t sample) {
  return error_message<SampleError>([&] { source.make_reader()->read(sample); });
}

TEST_F(Parquet, ReadsFilesOfLibrary) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 3> kFiles = {
      {{"snappy", kSnappy}, {"zstd", kZstd}, {"gzip", kGzip}}};
  for (const auto& [name, codec] : kFiles) {
    if (!is_built(codec)) continue;
    const auto source = open(content_of_fixture(fmt::format("parquet/{}.parquet", name)));
    expect_fixture_images(*source);
    EXPECT_THAT(source->describe(4), HasSubstr("0.parquet: row group 1, row 1"));
    ASSERT_EQ(source->details().size(), 1U);
    EXPECT_EQ(source->details().front().text, name);
  }
}

TEST_F(Parquet, ReadsPagesOfOneValueAndRequiredColumns) {
  const auto plain = open(content_of_fixture("parquet/plain.parquet"));
  ASSERT_EQ(plain->size(), 2);
  EXPECT_EQ(read_sample(*plain->make_reader(), 1), content_of_fixture("images/1.jpg"));
  EXPECT_TRUE(plain->details().empty());
  EXPECT_THAT(plain->notes(), ElementsAre(HasSubstr("photo: row groups of 2 rows and ")));
  if (!is_built(kLz4)) GTEST_SKIP() << "built without lz4";
  const auto lz4 = open(content_of_fixture("parquet/lz4.parquet"));
  const auto reader = lz4->make_reader();
  for (const std::int64_t i : {3, 1, 2, 0})
    EXPECT_EQ(read_sample(*reader, i), content_of_fixture(fmt::format("images/{}.jpg", i)));
}

TEST_F(Parquet, KeepsRepeatedValuesAndNullsInPlace) {
  if (!is_built(kZstd)) GTEST_SKIP() << "built without zstd";
  const std::string bytes = content_of_fixture("parquet/few.parquet");
  EXPECT_THAT(why_not(bytes), HasSubstr("several columns of bytes: few, other; choose one with"));
  const auto source = open(bytes, {{"column", "other"}});
  ASSERT_EQ(source->size(), 60);
  const auto reader = source->make_reader();
  constexpr std::array<std::string_view, 6> kValues = {"one", "null", "two", "", "one", "null"};
  for (std::int64_t i = 59; i >= 0; --i) {
    const std::string_view value = kValues[static_cast<std::size_t>(i % 6)];
    if (value == "null" || value.empty()) {
      EXPECT_THAT(error_message<SampleError>([&] { reader->read(i); }),
                  HasSubstr(value.empty() ? "is empty" : "is null"));
    } else {
      EXPECT_EQ(read_sample(*reader, i), value);
    }
  }
}

TEST_F(Parquet, ChoosesColumnByName) {
  const std::string bytes = content_of_fixture("parquet/bad.parquet");
  EXPECT_THAT(why_not(bytes), HasSubstr("is compressed by Brotli, which is not read here"));
  EXPECT_THAT(why_not(bytes, {{"column", "label"}}), HasSubstr("has INT64 in the column label"));
  EXPECT_THAT(why_not(bytes, {{"column", "many.list.element"}}), HasSubstr("has lists in"));
  EXPECT_THAT(why_not(bytes, {{"column", "photo"}}),
              HasSubstr("has no column photo, only image, many.list.element, label"));
  if (!is_built(kSnappy)) return;
  for (const char* name : {"image", "image.bytes"}) {
    const auto source = open(content_of_fixture("parquet/snappy.parquet"), {{"column", name}});
    EXPECT_EQ(read_sample(*source->make_reader(), 0), content_of_fixture("images/0.jpg"));
  }
}

TEST_F(Parquet, ReadsDeltaEncodedBytes) {
  const auto image = open(content_of_fixture("parquet/delta.parquet"));
  EXPECT_EQ(read_sample(*image->make_reader(), 1), content_of_fixture("images/1.jpg"));
  for (const char* column : {"whole", "suffixes"}) {
    const auto source = open(content_of_fixture("parquet/deltas.parquet"), {{"column", column}});
    const auto reader = source->make_reader();
    ASSERT_EQ(source->size(), 300);
    for (std::int64_t i = 0; i < 300; ++i) {
      if (i % 7 == 3) {
        EXPECT_THROW(reader->read(i), SampleError);
      } else {
        EXPECT_EQ(read_sample(*reader, i), fmt::format("word {} of many", i * i)) << column;
      }
    }
  }
}

TEST_F(Parquet, ReadsDeltaEncodedNumbers) {
  for (const char* column : {"label", "small"}) {
    SourceOptions options = without_cache({fixture("parquet/deltas.parquet")});
    options.words = {{"label", column}};
    options.classes = true;
    const auto source = open_parquet(options, {});
    const auto reader = source->make_reader();
    for (std::int64_t i = 0; i < 300; ++i) {
      if (i % 5 == 1) {
        EXPECT_THROW(reader->read(i), SampleError);
      } else {
        EXPECT_EQ(read_sample(*reader, i), std::to_string(i % 2 == 0 ? i * i : -i * i)) << column;
      }
    }
  }
}

TEST_F(Parquet, NamesUnsupportedEncoding) {
  SourceOptions options = without_cache({fixture("parquet/deltas.parquet")});
  options.words = {{"label", "split"}};
  options.classes = true;
  EXPECT_THAT(sample_error(*open_parquet(options, {}), 0), HasSubstr("BYTE_STREAM_SPLIT"));
}

TEST_F(Parquet, ReportsWrongDeltasAsDamage) {
  const auto why = [&](const std::string& bytes, std::int64_t encoding, std::int64_t rows) {
    return sample_error(*open_pages(parquet_page(bytes, rows, encoding), rows), 0);
  };
  const std::string head("\x80\x01\x04", 3);  // blocks of 128 in 4 parts
  EXPECT_THAT(why("", 6, 1), HasSubstr("ends before its numbers do"));
  EXPECT_THAT(why(head + "\2\2", 6, 1), HasSubstr("has 2 numbers where 1 should be"));
  EXPECT_THAT(why(head + "\2\2\2", 6, 2), HasSubstr("ends before its numbers do"));
  EXPECT_THAT(why(head + "\1\x0e", 6, 1), HasSubstr("ends before its values do"));
  EXPECT_THAT(why(std::string("\x80\x01\0\1\2", 5), 6, 1), HasSubstr("blocks of numbers that"));
  EXPECT_THAT(why(head + std::string("\2\2\0\x41\0\0\0", 7), 6, 2),
              HasSubstr("numbers of 65 bits"));
  EXPECT_THAT(why(head + "\1\2" + head + std::string("\1\0", 2), 7, 1),
              HasSubstr("ends before its values do"));  // begins as nothing does
}

// Three values of 100 bytes in each of two groups.
TEST_F(Parquet, ReadsGroupOnceInOrderAndAgainIfGroupsAlternate) {
  const std::vector<std::string> values(6, std::string(100, 'x'));
  for (const bool in_order : {true, false}) {
    const auto source = open(parquet_file_bytes(values));
    const auto reader = source->make_reader();
    const std::vector<std::int64_t> order = in_order ? std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}
                                                     : std::vector<std::int64_t>{0, 3, 1, 4, 2, 5};
    Bytes stored = 0;
    for (const std::int64_t sample : order) {
      reader->read(sample);
      stored += reader->stored_bytes().value_or(0);
    }
    const double brought = metric(*source, "source.bytes_brought");
    const double groups = brought / static_cast<double>(source->extents()->extent(0).length);
    EXPECT_EQ(groups, in_order ? 2 : 6);
    EXPECT_EQ(static_cast<double>(stored), brought);
    EXPECT_EQ(metric(*source, "source.bytes_of_samples"), 600);
  }
}

TEST_F(Parquet, RejectsWrongFooters) {
  const std::string good = parquet_file_bytes({"one", "two"});
  EXPECT_EQ(open(good)->size(), 2);
  EXPECT_THAT(why_not(""), HasSubstr("is no Parquet file, or is cut off"));
  EXPECT_THAT(why_not("PAR1"), HasSubstr("is no Parquet file"));
  EXPECT_THAT(why_not(good.substr(0, good.size() - 1)), HasSubstr("does not end with PAR1"));
  EXPECT_THAT(why_not(good.substr(0, good.size() - 4) + "PARE"), HasSubstr("is encrypted"));
  std::string longer = good;
  longer.replace(good.size() - 8, 4, number_bytes(std::uint32_t{0xfffffff0}));
  EXPECT_THAT(why_not(longer), HasSubstr("its footer should have 4294967280 bytes"));
  EXPECT_THAT(why_not(good.substr(0, 30) + good.substr(60)), HasSubstr("0.parquet: "));
  EXPECT_THAT(why_not(parquet_bytes({})), HasSubstr("has no rows"));
  EXPECT_THAT(why_not(parquet_bytes({{"x", std::int64_t{1} << 40}})), HasSubstr("has a row group"));
  EXPECT_THAT(why_not(parquet_bytes({{parquet_page("", 1), 1, 99}})), HasSubstr("number 99"));
}

TEST_F(Parquet, RejectsLargeGroupBeforeAllocation) {
  EXPECT_THAT(error_message<RunError>(
                  [&] { open(parquet_file_bytes({std::string(5000, 'x')}), {}, 4096); }),
              HasSubstr("write smaller row groups"));
}

TEST_F(Parquet, ReportsWrongPagesAsDamagedSamples) {
  const std::string one = plain_value("one");
  EXPECT_THAT(sample_error(*open_pages(parquet_page(one, 2), 2), 1), HasSubstr("ends before"));
  EXPECT_THAT(sample_error(*open_pages(parquet_page(one, 3), 2), 0), HasSubstr("more values"));
  EXPECT_THAT(sample_error(*open_pages(parquet_page(one, 1), 2), 1), HasSubstr("fewer values"));
  EXPECT_THAT(sample_error(*open_pages(parquet_page("\xff\xff\xff\xff", 1), 1), 0),
              HasSubstr("ends before its values do"));
  EXPECT_THAT(sample_error(*open_pages(parquet_page(std::string("\2\2\7", 3), 1, 8), 1), 0),
              HasSubstr("its dictionary has not"));
  EXPECT_THAT(sample_error(*open_pages("no page", 1), 0), HasSubstr("damaged"));
  const std::string whole = parquet_page(one, 1);
  EXPECT_THAT(sample_error(*open_pages(whole.substr(0, whole.size() - 2), 1), 0),
              HasSubstr("ends after its row group"));
  if (is_built(kZstd)) {
    EXPECT_THAT(sample_error(*open_pages(whole, 1, kZstd), 0), HasSubstr("zstd data are damaged"));
  }
  if (is_built(kSnappy)) {
    EXPECT_THAT(sample_error(*open_pages(whole, 1, kSnappy), 0), HasSubstr("Snappy"));
  }
}

// Pages before and after the damage stay readable.
TEST_F(Parquet, LimitsDamageToItsPage) {
  const std::string good = parquet_page(plain_value("one"), 1);
  const auto source = open_pages(good + parquet_page("\xff\xff\xff\xff", 1) + good, 3);
  const auto reader = source->make_reader();
  EXPECT_THROW(reader->read(1), SampleError);
  EXPECT_EQ(read_sample(*reader, 0), "one");
  EXPECT_EQ(read_sample(*reader, 2), "one");
}

TEST_F(Parquet, SurvivesChangedBytes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kFiles = {
      {{"snappy", "image"},
       {"deltas", "whole"},
       {"zstd", "image"},
       {"gzip", "image"},
       {"lz4", "image"},
       {"few", "few"},
       {"deltas", "suffixes"},
       {"plain", "photo"}}};
  for (const auto& [name, column] : kFiles) {
    const std::string good = content_of_fixture(fmt::format("parquet/{}.parquet", name));
    for (std::size_t i = 0; i < good.size(); i += 11) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
      read_some(bytes, std::string(column));
    }
  }
}

TEST(Thrift, RejectsCutAndEndlesslyNestedStructures) {
  const auto why = [](const std::string& bytes) {
    return error_message<ValueError>(
        [&] { ThriftReader(std::as_bytes(std::span(bytes))).skip_fields(); });
  };
  EXPECT_THAT(why(""), HasSubstr("ends early"));
  EXPECT_THAT(why(std::string(1000, '\x1c')), HasSubstr("nested too deeply"));
  EXPECT_THAT(why(std::string(1000, '\x19') + '\x19'), HasSubstr("damaged"));
  EXPECT_THAT(why("\x18\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), HasSubstr("ends early"));
  EXPECT_THAT(why(std::string("\x16") + std::string(11, '\xff')), HasSubstr("more than 64 bits"));
  EXPECT_THAT(why("\x1e"), HasSubstr("no kind"));
}

// A file whose footer has `columns` columns in one group. Each repeats the name of the group.
std::string bytes_of_group(std::size_t columns, const std::string& group) {
  const std::string root = ThriftBytes().text(4, "schema").number(5, 1).finish();
  const std::string parent =
      ThriftBytes().text(4, group).number(5, static_cast<std::int64_t>(columns)).finish();
  const std::string leaf = ThriftBytes().number(1, 6).number(3, 0).text(4, "a").finish();
  std::vector<std::string> schema = {root, parent};
  schema.resize(2 + columns, leaf);
  const std::string footer =
      ThriftBytes().number(1, 1).list(2, schema).number(3, 0).list(4, {}).finish();
  return "PAR1" + footer + number_bytes(static_cast<std::uint32_t>(footer.size())) + "PAR1";
}

TEST_F(Parquet, RejectsColumnNamesMuchLargerThanFooter) {
  EXPECT_THAT(why_not(bytes_of_group(3, std::string(5000, 'g'))),
              HasSubstr("0.parquet: has columns whose names take more than 4096 bytes each"));
  EXPECT_THAT(why_not(bytes_of_group(20'000, std::string(4000, 'g'))),
              HasSubstr("has columns whose names take more than 64 MiB"));
}

TEST_F(Parquet, NamesFewOfManyColumns) {
  const std::string why = why_not(bytes_of_group(2000, std::string(2000, 'g')));
  EXPECT_THAT(why, HasSubstr("several columns of bytes: ggg"));
  EXPECT_THAT(why, HasSubstr(" and 1990 more; choose one"));
  EXPECT_LT(why.size(), 2000U);
}

}  // namespace
}  // namespace loaderscope::source
