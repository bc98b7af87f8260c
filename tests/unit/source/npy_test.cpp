// Arrays of NumPy: what their headers say, and which rows make a sample.
#include "source/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "container_bytes.h"
#include "loaderscope/errors.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::HasSubstr;

ArrayLayout parse_header(std::string_view bytes) {
  return parse_npy_header(std::as_bytes(std::span(bytes)));
}
std::string why_no_header(std::string_view bytes) {
  return error_message<ValueError>([&] { parse_header(bytes); });
}

struct Npy : testing::Test {
  TempFolder data;

  std::unique_ptr<Source> open(std::vector<std::string> paths, const FormatParameters& words = {}) {
    SourceOptions options = without_cache(std::move(paths));
    options.words = words;
    return open_npy(options, {});
  }
  std::string read(const Source& source, std::int64_t sample) {
    const auto reader = source.make_reader();
    const auto bytes = reader->read(sample);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string why_not(std::vector<std::string> paths, const FormatParameters& words = {}) {
    return error_message<RunError>([&] { open(std::move(paths), words); });
  }
};

TEST(NpyHeader, SaysWhatARowIs) {
  const ArrayLayout images = parse_header(npy_bytes("<f4", "(2000, 3, 64, 64)", ""));
  EXPECT_EQ(images.rows, 2000);
  EXPECT_EQ(images.row_bytes, 3 * 64 * 64 * 4);
  EXPECT_EQ(images.begin, 128);
  EXPECT_EQ(images.shape, "(3, 64, 64)");
  EXPECT_FALSE(images.is_flat);

  const ArrayLayout tokens = parse_header(npy_bytes("<u2", "(5000,)", ""));
  EXPECT_EQ(tokens.rows, 5000);
  EXPECT_EQ(tokens.row_bytes, 2);
  EXPECT_TRUE(tokens.is_flat);
  EXPECT_EQ(parse_header(npy_bytes("<U10", "(5, 2)", "")).row_bytes, 80);
  EXPECT_EQ(parse_header(npy_bytes("<M8[ns]", "(5, 2)", "")).row_bytes, 16);
  EXPECT_TRUE(parse_header(npy_bytes("|b1", "(5,)", "", "True")).is_flat);
}

TEST(NpyHeader, RefusesWhatIsNoArrayOfNumbers) {
  EXPECT_EQ(why_no_header("PNG"), "is no NumPy array (.npy)");
  EXPECT_THAT(why_no_header(npy_bytes("|O", "(5,)", "")), HasSubstr("not plain numbers"));
  EXPECT_THAT(why_no_header(npy_bytes("<f4", "(5, 2)", "", "True")), HasSubstr("column by column"));
  EXPECT_EQ(why_no_header(npy_bytes("<f4", "()", "")), "holds a single number, no samples");
  EXPECT_EQ(why_no_header(npy_bytes("<f4", "(5, -2)", "")), "its NumPy header is damaged");
  EXPECT_EQ(why_no_header(npy_bytes("<f8", "(1, 4611686018427387904, 4)", "")),
            "says that it has more than 2^63 bytes");
  const std::string whole = npy_bytes("<f4", "(5, 2)", "");
  EXPECT_EQ(why_no_header(whole.substr(0, 60)), "ends within its NumPy header");
  const std::string fields = npy_bytes("x", "(5,)", "");
  std::string record = fields;
  record.replace(record.find("'x'"), 3, "[] ");
  EXPECT_THAT(why_no_header(record), HasSubstr("records of several fields"));
}

TEST_F(Npy, SplitsTokensIntoOverlappingSamples) {
  const std::string tokens = "aabbccddeeffgghhii";
  const std::string path = data.write("train.npy", npy_bytes("<u2", "(9,)", tokens));
  const auto apart = open({path}, {{"length", "4"}});
  EXPECT_EQ(apart->size(), 2);
  EXPECT_EQ(read(*apart, 1), "eeffgghh");
  EXPECT_EQ(apart->describe(1), path + "[4]");
  const auto overlapping = open({path}, {{"length", "4"}, {"stride", "3"}});
  EXPECT_EQ(overlapping->size(), 2);
  EXPECT_EQ(read(*overlapping, 1), "ddeeffgg");
  EXPECT_EQ(overlapping->sample_bytes(), 8);
}

TEST_F(Npy, JoinsArraysInOrder) {
  data.write("a.npy", npy_bytes("|u1", "(3, 2)", "aabbcc"));
  data.write("b.npy", npy_bytes("|u1", "(0, 2)", ""));
  data.write("c.npy", npy_bytes("|u1", "(2, 2)", "ddee"));
  const auto all = open({data.path()});
  ASSERT_EQ(all->size(), 5);
  EXPECT_EQ(read(*all, 2), "cc");
  EXPECT_EQ(read(*all, 3), "dd");
}

TEST_F(Npy, SaysWhatDoesNotFit) {
  const std::string flat = data.write("flat.npy", npy_bytes("<u2", "(9,)", std::string(18, 'x')));
  EXPECT_THAT(why_not({flat}), HasSubstr("say how many make a sample"));
  EXPECT_THAT(why_not({flat}, {{"length", "10"}}), HasSubstr("no sample of 10 rows fits"));
  EXPECT_THROW(open({flat}, {{"length", "0"}}), UsageError);
  EXPECT_THROW(open({flat}, {{"stride", "x"}}), UsageError);
  const std::string cut = data.write("cut.npy", npy_bytes("<u2", "(9, 1)", "xx"));
  EXPECT_THAT(why_not({cut}), HasSubstr("fewer than the array that its header describes"));
  const std::string other = data.write("other.npy", npy_bytes("<u4", "(1, 1)", "xxxx"));
  const std::string one = data.write("one.npy", npy_bytes("<u2", "(1, 1)", "xx"));
  EXPECT_THAT(why_not({one, other}), HasSubstr("give arrays that are alike"));
  EXPECT_THAT(why_not({data / "missing.npy"}), HasSubstr("No such file"));
  EXPECT_THAT(why_not({data / "{1..3}.npy"}), HasSubstr("1.npy: cannot be opened"));
  data.write("empty/x.txt", "");
  EXPECT_THAT(why_not({data / "empty"}), HasSubstr("holds no files named *.npy"));
}

}  // namespace
}  // namespace loaderscope::source
