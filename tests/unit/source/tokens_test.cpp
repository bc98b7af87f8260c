// Tokens of text as samples.
#include "source/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "loaderscope/errors.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// An index in the format of Megatron's IndexedDatasetBuilder.
std::string index_bytes(std::uint8_t type, Bytes token_bytes,
                        const std::vector<std::int32_t>& lengths) {
  std::string bytes("MMIDIDX\0\0", 9);
  append(bytes, std::uint64_t{1});
  append(bytes, type);
  append(bytes, std::uint64_t{lengths.size()});
  append(bytes, std::uint64_t{lengths.size() + 1});
  for (const std::int32_t length : lengths) append(bytes, length);
  std::int64_t begin = 0;
  for (const std::int32_t length : lengths) {
    append(bytes, begin);
    begin += length * token_bytes;
  }
  for (std::size_t document = 0; document <= lengths.size(); ++document)
    append(bytes, static_cast<std::int64_t>(document));
  return bytes;
}

class Tokens : public testing::Test {
 protected:
  std::unique_ptr<Source> open(const std::string& path, FormatParameters words = {}) const {
    SourceOptions options = without_cache({path});
    options.words = std::move(words);
    return open_tokens(options, {});
  }
  std::string why_not(const std::string& path, const FormatParameters& words = {}) const {
    try {
      open(path, words);
    } catch (const RunError& error) {
      return error.what();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  static std::string read(const Source& source, std::int64_t sample) {
    const auto reader = source.make_reader();
    const auto bytes = reader->read(sample);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  TempFolder data;
};

TEST_F(Tokens, SplitsRawFileIntoSamples) {
  const std::string path = data.write("train.bin", "aabbccddeeffgghhii");
  const auto apart = open(path, {{"length", "4"}});
  EXPECT_EQ(apart->size(), 2);
  EXPECT_EQ(apart->sample_bytes(), 8);
  EXPECT_EQ(read(*apart, 1), "eeffgghh");
  EXPECT_EQ(apart->describe(1), path + "[4]");
  // A stride of 1 gives one sample per token, like nanoGPT.
  const auto any = open(path, {{"length", "4"}, {"stride", "1"}});
  EXPECT_EQ(any->size(), 6);
  EXPECT_EQ(read(*any, 5), "ffgghhii");
  EXPECT_EQ(open(path, {{"length", "2"}, {"type", "u16"}})->size(), 4);
}

TEST_F(Tokens, ReadsOnlyTokensOfIndex) {
  data.write("a.bin", std::string(40, 'a') + "zz");  // "zz" is in no sequence
  data.write("a.idx", index_bytes(4, 4, {3, 0, 7}));
  const auto source = open(data.path(), {{"length", "5"}});
  EXPECT_EQ(source->size(), 2);
  EXPECT_EQ(source->sample_bytes(), 20);
  EXPECT_THAT(source->notes(),
              ElementsAre(HasSubstr("3 documents of 3 tokens on average are packed")));
}

TEST_F(Tokens, ChecksAllOfManySequences) {
  const std::vector<std::int32_t> lengths(150'000, 2);
  data.write("a.bin", std::string(600'000, 'a'));
  data.write("a.idx", index_bytes(8, 2, lengths));
  EXPECT_EQ(open(data.path(), {{"length", "1000"}})->size(), 300);
  data.write("a.bin", std::string(599'998, 'a'));
  EXPECT_THAT(why_not(data.path(), {{"length", "1000"}}), HasSubstr("has 599998 bytes, and"));
}

TEST_F(Tokens, DeliversWiderTypeThanStored) {
  const std::string path = data.write("a.bin", {"\1\0\xff\xff\2\0\3\1", 8});
  const auto source = open(path, {{"length", "2"}, {"deliver", "i64"}});
  EXPECT_EQ(source->sample_bytes(), 16);
  EXPECT_EQ(source->layout(), "(2,) of <i8, stored as <u2");
  const auto reader = source->make_reader();
  std::array<std::int64_t, 3> place{0, 0, -7};
  EXPECT_EQ(reader->read_to(0, reinterpret_cast<std::byte*>(place.data())).size(), 16U);
  EXPECT_THAT(place, ElementsAre(1, 65535, -7));
  EXPECT_EQ(reader->stored_bytes(), 4);
  EXPECT_EQ(read(*source, 1), std::string("\2\0\0\0\0\0\0\0\3\1\0\0\0\0\0\0", 16));
  EXPECT_EQ(open(path, {{"length", "2"}, {"deliver", "u16"}})->sample_bytes(), 4);
  EXPECT_THAT(why_not(path, {{"length", "2"}, {"type", "u32"}, {"deliver", "u16"}}),
              HasSubstr("what is stored as <u4 does not become that"));
  EXPECT_THAT(why_not(path, {{"deliver", "f32"}}), HasSubstr("deliver=f32: expected u16"));
}

// Three texts of 5, 0 and 4 tokens give three samples of four: the full ones, and one of 1 token.
TEST_F(Tokens, PadsTextsSeparately) {
  data.write("a.bin", "aabbccddeeffgghhii");
  data.write("a.idx", index_bytes(8, 2, {5, 0, 4}));
  const auto source = open(data.path(), {{"length", "4"}, {"pad", "30840"}});  // "xx"
  ASSERT_EQ(source->size(), 3);
  EXPECT_EQ(source->sample_bytes(), 8);
  EXPECT_EQ(read(*source, 0), "aabbccdd");
  EXPECT_EQ(read(*source, 1), "eexxxxxx");
  EXPECT_EQ(read(*source, 2), "ffgghhii");
  EXPECT_EQ(source->describe(1), data / "a.bin[4]");
  EXPECT_THAT(
      source->notes(),
      ElementsAre(HasSubstr("3 samples of 3 tokens on average, filled up to 4: 25.0 % of")));
  EXPECT_EQ(source->metrics().back().name, "collate.padding_share");
  const auto wide = open(data.path(), {{"length", "4"}, {"pad", "1"}, {"deliver", "i64"}});
  EXPECT_EQ(read(*wide, 1).substr(8, 16), std::string("\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16));
}

TEST_F(Tokens, RejectsTextsThatCannotBePadded) {
  const std::string path = data.write("a.bin", "aabbccddeeffgghhii");
  EXPECT_THAT(why_not(path, {{"pad", "0"}}), HasSubstr("has no .idx next to it"));
  data.write("a.idx", index_bytes(8, 2, {5, 4}));
  EXPECT_THAT(why_not(path, {{"pad", "65536"}}), HasSubstr("pad=65536: is no number of type <u2"));
  EXPECT_THAT(why_not(path, {{"pad", "-1"}}), HasSubstr("pad=-1: expected a whole number"));
  EXPECT_THAT(why_not(path, {{"pad", "0"}, {"stride", "2"}}), HasSubstr("do not overlap"));
  EXPECT_THAT(why_not(path, {{"pad", "0"}, {"length", "1000000000"}}), HasSubstr("may have"));
  data.write("a.idx", index_bytes(8, 2, {0}));
  EXPECT_THAT(why_not(path, {{"pad", "0"}}), HasSubstr("no sequence with a token"));
  data.write("a.idx", index_bytes(7, 4, {2}));
  EXPECT_THAT(why_not(path, {{"pad", "0"}}), HasSubstr("is no number of type <f4"));
}

// The check comes before any sample is made from the claims of an index.
TEST_F(Tokens, RejectsIndexLargerThanFile) {
  const std::string path = data.write("a.bin", "aabbccdd");
  data.write("a.idx", index_bytes(8, 2, {2'147'483'647}));
  EXPECT_THAT(why_not(path, {{"pad", "0"}, {"length", "1"}}), HasSubstr("has 8 bytes, and"));
  std::string overlapping = index_bytes(8, 2, {3, 3});
  overlapping[34 + 8 + 8] = 2;  // the second begins one token after the first
  data.write("a.idx", overlapping);
  EXPECT_EQ(open(path, {{"length", "4"}})->size(), 1);
  EXPECT_THAT(why_not(path, {{"pad", "0"}}), HasSubstr("sequences of more tokens than the .bin"));
}

TEST_F(Tokens, SaysWhatDoesNotFit) {
  const std::string odd = data.write("odd.bin", "abc");
  EXPECT_THAT(why_not(odd), HasSubstr("3 bytes, which are no whole number of u16 tokens"));
  EXPECT_THAT(why_not(odd, {{"type", "u8"}}), HasSubstr("expected u16, u32, i32 or i64"));
  const std::string small = data.write("small.bin", "abcd");
  EXPECT_THAT(why_not(small), HasSubstr("no sample of 1024 rows fits"));
  EXPECT_THAT(why_not(data / "none.bin"), HasSubstr("No such file"));
}

TEST_F(Tokens, RejectsDamagedIndex) {
  const std::string path = data.write("a.bin", std::string(80, 'a'));
  const std::string whole = index_bytes(4, 4, {3, 7});
  const auto why = [&](const std::string& index, const FormatParameters& words = {}) {
    data.write("a.idx", index);
    return why_not(path, words);
  };
  EXPECT_THAT(why("MMIDIDX\1\1" + whole.substr(9)), HasSubstr("is no index of Megatron"));
  std::string changed = whole;
  changed[9] = 2;
  EXPECT_THAT(why(changed), HasSubstr("is an index of version 2"));
  changed = whole;
  changed[17] = 11;
  EXPECT_THAT(why(changed), HasSubstr("unknown type, number 11"));
  changed = whole;
  changed[24] = 1;
  EXPECT_THAT(why(changed), HasSubstr("is cut off"));
  for (const std::size_t length : {0u, 8u, 20u, 33u, 40u, 60u})
    EXPECT_THAT(why(whole.substr(0, length)), HasSubstr("is cut off")) << length;
  EXPECT_THAT(why(index_bytes(4, 4, {3, -7})), HasSubstr("sequence 1 has -7 tokens"));
  EXPECT_THAT(why(whole, {{"type", "u16"}}), HasSubstr("says that its tokens are <i4"));
}

}  // namespace
}  // namespace loaderscope::source
