// LMDB: what its Python binding wrote, Caffe's values, and files that cannot be used.
#include "source/lmdb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <protozero/pbf_writer.hpp>

#include "fixtures.h"
#include "lmdb_writer.h"
#include "loaderscope/errors.h"
#include "source/registry.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string datum_bytes(int channels, int height, int width, const std::string& data,
                        bool is_coded) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_int32(1, channels);
  writer.add_int32(2, height);
  writer.add_int32(3, width);
  writer.add_bytes(4, data);
  writer.add_int32(5, 7);  // the label
  if (is_coded) writer.add_bool(7, true);
  return bytes;
}

std::string decode_datum(const std::string& datum) {
  std::vector<std::byte> image;
  const auto bytes = image_of_datum(std::as_bytes(std::span(datum)), image);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(LmdbKeys, MatchesPatternWithOneNumber) {
  EXPECT_TRUE(fits_key("%08d", "00000012"));
  EXPECT_FALSE(fits_key("%08d", "12"));
  EXPECT_TRUE(fits_key("image-%09d", "image-000000001"));
  EXPECT_FALSE(fits_key("image-%09d", "label-000000001"));
  EXPECT_TRUE(fits_key("%d.jpg", "5.jpg"));
  EXPECT_FALSE(fits_key("%d.jpg", ".jpg"));
  EXPECT_FALSE(fits_key("%d", "5x"));
  EXPECT_THROW(fits_key("image", ""), ValueError);
  EXPECT_THROW(fits_key("%sd", ""), ValueError);
}

TEST(Datum, HoldsACodedImageOrPlanes) {
  EXPECT_EQ(decode_datum(datum_bytes(0, 0, 0, "coded", true)), "coded");
  // Blue, green, red; two pixels each.
  const std::string raw = decode_datum(datum_bytes(3, 1, 2, "bBgGrR", false));
  EXPECT_EQ(raw.substr(0, 8), std::string_view("LSRAW1\0\0", 8));
  EXPECT_EQ(raw.substr(16), "rgbRGB");
  EXPECT_EQ(decode_datum(datum_bytes(1, 1, 2, "xy", false)).substr(16), "xxxyyy");
  const auto why = [](const std::string& datum) {
    return error_message<SampleError>([&] { decode_datum(datum); });
  };
  EXPECT_THAT(why(datum_bytes(3, 1, 3, "bBgGrR", false)), HasSubstr("6 bytes of 3 x 1 x 3"));
  EXPECT_THAT(why(datum_bytes(3, -1, -2, "bBgGrR", false)), HasSubstr("channels can be used"));
  EXPECT_THAT(why("\xff\xd8 no datum"), HasSubstr("is no Datum"));
  EXPECT_THAT(why(""), HasSubstr("is empty"));
}

struct Lmdb : testing::Test {
  TempFolder data;

  void SetUp() override {
    if (!built_with::kLmdb.is_built) GTEST_SKIP() << "built without LMDB";
  }

  std::unique_ptr<Source> open(const std::string& path, const FormatParameters& words = {}) {
    SourceOptions options = without_cache({path});
    options.words = words;
    return source_row("lmdb").open(options, {});
  }
  std::string why_not(const std::string& path, const FormatParameters& words = {}) {
    return error_message<RunError>([&] { open(path, words); });
  }
};

TEST_F(Lmdb, ReadsFileOfPythonAndLeavesNoLockFile) {
  std::filesystem::copy(fixture("images.lmdb"), data / "images.lmdb");
  const auto source = open(data / "images.lmdb");
  expect_fixture_images(*source);
  EXPECT_THAT(source->describe(3), HasSubstr("data.mdb: 00000003"));
  EXPECT_FALSE(std::filesystem::exists(data / "images.lmdb/lock.mdb"));
  expect_fixture_images(*open(data / "images.lmdb/data.mdb", {{"key", "%08d"}}));
  EXPECT_THAT(why_not(data / "images.lmdb", {{"key", "image-%09d"}}),
              HasSubstr("has no key of the form image-%09d"));
}

TEST_F(Lmdb, DecodesDatums) {
  write_lmdb(data / "0.mdb", {{"0", datum_bytes(3, 1, 2, "bBgGrR", false)},
                              {"1", datum_bytes(0, 0, 0, "coded", true)},
                              {"2", ""}});
  const auto source = open(data / "0.mdb", {{"value", "datum"}});
  const auto reader = source->make_reader();
  EXPECT_EQ(read_sample(*reader, 0).substr(16), "rgbRGB");
  EXPECT_EQ(read_sample(*reader, 1), "coded");
  EXPECT_THROW(reader->read(2), SampleError);
  EXPECT_THAT(error_message<UsageError>([&] {
                open(data / "0.mdb", {{"value", "jpeg"}});
              }),
              HasSubstr("expected raw"));
  EXPECT_THAT(error_message<UsageError>([&] {
                open(data / "0.mdb", {{"key", "x"}});
              }),
              HasSubstr("a pattern with a number"));
}

TEST_F(Lmdb, ReopensFileInForkedProcess) {
  const auto source = open(fixture("images.lmdb"));
  const auto before = source->make_reader();
  const std::size_t bytes = before->read(1).size();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(source->make_reader()->read(1).size() == bytes ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// The file of a machine with pages of 16 KiB has the same pages, further apart, and no large ones.
TEST_F(Lmdb, ReadsFileWithOtherPageSize) {
  const std::string whole = content_of_fixture("images.lmdb/data.mdb");
  constexpr std::size_t kPage = 4096, kOther = 16384;
  constexpr std::size_t kPageSizeAt = 40;  // offset in each of the two meta pages
  std::string other(whole.size() / kPage * kOther, '\0');
  for (std::size_t page = 0; page < whole.size() / kPage; ++page)
    other.replace(page * kOther, kPage, whole, page * kPage, kPage);
  for (const std::size_t meta : {std::size_t{0}, kOther})
    std::memcpy(other.data() + meta + kPageSizeAt, &kOther, 4);
  expect_fixture_images(*open(data.write("0.mdb", other)));
  EXPECT_THAT(why_not(data.write("0.mdb", other.substr(0, 3 * kOther))), HasSubstr("is cut off"));
}

TEST_F(Lmdb, RejectsForeignAndCutFiles) {
  EXPECT_THAT(why_not(data.write("0.mdb", "no LMDB")), HasSubstr("cannot be read by LMDB"));
  EXPECT_THAT(why_not(data / "gone.mdb"), HasSubstr("is no LMDB file, nor a folder"));
  const std::string whole = content_of_fixture("images.lmdb/data.mdb");
  EXPECT_THAT(why_not(data.write("0.mdb", whole.substr(0, whole.size() - 4096))),
              HasSubstr("is cut off"));
  std::string big_endian = whole;
  for (const std::size_t page : {std::size_t{0}, std::size_t{4096}})  // magic number, twice
    std::reverse(big_endian.begin() + static_cast<std::ptrdiff_t>(page) + 16,
                 big_endian.begin() + static_cast<std::ptrdiff_t>(page) + 20);
  EXPECT_THAT(why_not(data.write("0.mdb", big_endian)), HasSubstr("another kind of machine"));
  std::string version = whole;
  version[20] = version[4096 + 20] = 9;
  EXPECT_THAT(why_not(data.write("0.mdb", version)), HasSubstr("another kind of machine"));
}

// Offsets from a key to the fields of its node, which precede the key.
constexpr std::ptrdiff_t kLengthBefore = -8, kFlagsBefore = -4, kKeyLengthBefore = -2;
std::string with_changed_node(std::string file, const std::string& key, std::ptrdiff_t where,
                              std::uint32_t bits) {
  const auto at = static_cast<std::ptrdiff_t>(file.find(key)) + where;
  const std::size_t bytes = where == kLengthBefore ? 4 : 2;
  std::memcpy(file.data() + at, &bits, bytes);
  return file;
}

// The thread sanitizer's own memcmp does not release a signal.
#ifdef __SANITIZE_THREAD__
constexpr bool kLetsGoOfSignals = false;
#else
constexpr bool kLetsGoOfSignals = true;
#endif

TEST_F(Lmdb, ReportsDamagedPages) {
  if (!kLetsGoOfSignals) GTEST_SKIP() << "the thread sanitizer does not let go of signals";
  const std::string whole = content_of_fixture("images.lmdb/data.mdb");
  constexpr std::uint32_t kHasSeveral = 4;  // values, which it has not
  for (const auto& [where, bits] :
       {std::pair{kFlagsBefore, kHasSeveral}, {kKeyLengthBefore, 0xffffu}}) {
    const std::string path = data.write("0.mdb", with_changed_node(whole, "00000000", where, bits));
    EXPECT_THAT(why_not(path), HasSubstr("0.mdb: is damaged: its pages cannot be followed"));
  }
}

TEST_F(Lmdb, ReportsValuePastEndOfFile) {
  const std::string whole = content_of_fixture("images.lmdb/data.mdb");
  const auto source =
      open(data.write("0.mdb", with_changed_node(whole, "00000003", kLengthBefore, 0x3fffffff)));
  const auto reader = source->make_reader();
  const auto why = [&](std::int64_t sample) {
    return error_message<SampleError>([&] { reader->read(sample); });
  };
  EXPECT_EQ(why(2), "");
  EXPECT_THAT(why(3), HasSubstr("is damaged: a value continues after its end"));
  EXPECT_EQ(why(4), "");
}

TEST_F(Lmdb, SurvivesChangedBytes) {
  if (!kLetsGoOfSignals) GTEST_SKIP() << "the thread sanitizer does not let go of signals";
  const std::string whole = content_of_fixture("images.lmdb/data.mdb");
  std::string changed = whole;
  for (std::size_t i = 0; i < changed.size(); i += i % 4096 < 96 ? 1 : 97) {
    for (const int bits : {0x55, 0xff}) {
      changed[i] = static_cast<char>(whole[i] ^ bits);
      try {
        const auto source = open(data.write("0.mdb", changed));
        const auto reader = source->make_reader();
        for (std::int64_t sample = 0; sample < std::min<std::int64_t>(source->size(), 20); ++sample)
          error_message<SampleError>([&] { reader->read(sample); });
      } catch (const RunError& error) {
        EXPECT_THAT(error.what(), HasSubstr("0.mdb: ")) << i;
      }
    }
    changed[i] = whole[i];
  }
}

}  // namespace
}  // namespace loaderscope::source
