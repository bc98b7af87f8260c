#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "dataset/make_tokens.h"
#include "loaderscope/errors.h"
#include "source/registry.h"
#include "source/tokens.h"
#include "unit/dataset/contents.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::dataset {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

template <class Number>
std::vector<Number> read_numbers(const std::string& path) {
  const std::string bytes = file_content(path);
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

class MakeTokens : public testing::Test {
 protected:
  MakeTokens() {
    options_.path = folder_ / "made";
    options_.tokens = 1'500'000;  // more than one block
    options_.vocabulary = 1000;
  }
  std::string file() const { return options_.path + "/tokens.bin"; }

  source::TempFolder folder_;
  TokenOptions options_;
};

TEST(Zipf, DrawsOfEachNumberItsShare) {
  constexpr int kDraws = 400'000;
  const Zipf zipf(10);
  Random random(1, 0);
  std::vector<double> share(10);
  for (int i = 0; i < kDraws; ++i) share[zipf.draw(random)] += 1.0 / kDraws;
  double sum = 0;
  for (int k = 1; k <= 10; ++k) sum += 1.0 / k;
  for (std::size_t k = 0; k < 10; ++k)
    EXPECT_NEAR(share[k], 1 / static_cast<double>(k + 1) / sum, 0.004) << k;
}

TEST_F(MakeTokens, DrawsFirstTokenTwiceAsOftenAsSecond) {
  EXPECT_TRUE(make_tokens(options_, {}).complete);
  std::vector<std::int64_t> counts(1000);
  for (const std::uint16_t token : read_numbers<std::uint16_t>(file())) {
    ASSERT_LT(token, 1000);
    ++counts[token];
  }
  EXPECT_NEAR(static_cast<double>(counts[0]) / static_cast<double>(counts[1]), 2, 0.05);
}

TEST_F(MakeTokens, WritesSameTokensForAnyThreads) {
  options_.threads = 1;
  make_tokens(options_, {});
  const auto one = contents_below(options_.path);
  options_.threads = 4;
  options_.path = folder_ / "four";
  make_tokens(options_, {});
  EXPECT_EQ(contents_below(options_.path), one);
  EXPECT_THAT(describe(options_, make_tokens(options_, {})), HasSubstr("already"));
  options_.seed = 1;
  EXPECT_THAT([&] { make_tokens(options_, {}); },
              ThrowsMessage<RunError>(HasSubstr("holds another data set (seed")));
}

TEST_F(MakeTokens, WritesMegatronIndexWithDocuments) {
  options_.documents = parse_lengths("lognormal:512:1.0");
  make_tokens(options_, {});
  const source::TokenIndex index = source::read_token_index(options_.path + "/tokens.idx");
  EXPECT_EQ(index.type, "<u2");
  EXPECT_EQ(index.end, 2 * options_.tokens);
  EXPECT_EQ(index.sequences, index.documents);
  EXPECT_GT(index.documents, options_.tokens / 1500);
  EXPECT_LT(index.documents, options_.tokens / 500);
  const auto source = open_source("tokens", {options_.path}, source::without_cache({}), {});
  EXPECT_EQ(source->size(), options_.tokens / source::kUsualWindow);
}

TEST_F(MakeTokens, Uses32BitsForLargeVocabulary) {
  options_.vocabulary = 100'000;
  options_.tokens = 100'000;
  const MakeResult result = make_tokens(options_, {});
  EXPECT_EQ(result.bytes, 400'000);
  EXPECT_THAT(describe(options_, result), HasSubstr("?type=u32'"));
  const auto tokens = read_numbers<std::uint32_t>(file());
  EXPECT_GT(*std::max_element(tokens.begin(), tokens.end()), 65'535U);
}

TEST_F(MakeTokens, RefusesWhatMakesNoSense) {
  EXPECT_EQ(parse_token_count("10M"), 10'000'000);
  EXPECT_EQ(parse_token_count("3k"), 3000);
  for (const char* text : {"", "M", "1.5M", "-1", "10000000000T"})
    EXPECT_THROW(parse_token_count(text), ValueError) << text;
  for (const char* text : {"", "0", "lognormal:512", "lognormal:512:9", "lognormal::1", "512:1"})
    EXPECT_THROW(parse_lengths(text), ValueError) << text;
  EXPECT_EQ(parse_lengths("512").sigma, 0);
  options_.vocabulary = 1;
  EXPECT_THAT([&] { make_tokens(options_, {}); },
              ThrowsMessage<UsageError>(HasSubstr("--vocabulary: expected 2 to")));
}

}  // namespace
}  // namespace loaderscope::dataset
