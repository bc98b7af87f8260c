// `data make tokens:PATH`: tokens with the unequal frequencies of words of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/make.h"
#include "dataset/random.h"

namespace loaderscope::dataset {

// Length of documents in tokens.
struct LengthDistribution {
  double median = 512, sigma = 0;  // sigma: standard deviation of the logarithm
};
LengthDistribution parse_lengths(std::string_view text);  // 512, lognormal:512:1.0; ValueError
std::string lengths_to_text(const LengthDistribution& lengths);
std::int64_t parse_token_count(std::string_view text);  // 10M, 500k, 4096; throws ValueError

struct TokenOptions {
  std::string path;  // the folder to fill with tokens.bin
  std::int64_t tokens = 10'000'000;
  std::int64_t vocabulary = 50'257;  // token k is the k-th most frequent, from 0 on
  // set: with Megatron's tokens.idx; nothing: one text
  std::optional<LengthDistribution> documents;
  std::uint64_t seed = 0;
  int threads = 0;  // 0: one per core; never changes what is written
};

// Counts tokens. The same options give the same files. Throws UsageError, RunError.
MakeResult make_tokens(const TokenOptions& options, const MakeContext& context);

// Returns one sentence, and the command that reads the tokens.
std::string describe(const TokenOptions& options, const MakeResult& result);

// Random numbers that are rarer the larger they are. Zipf's law: number k, from 0 on, is drawn 1 /
// (k + 1) times as often as 0. By Walker's alias method: a draw takes the same time whatever the
// number of numbers.
class Zipf {
 public:
  explicit Zipf(std::int64_t numbers)
      : kept_(static_cast<std::size_t>(numbers)), other_(static_cast<std::size_t>(numbers)) {
    double sum = 0;
    for (std::size_t k = 0; k < kept_.size(); ++k) sum += 1 / static_cast<double>(k + 1);
    std::vector<std::uint32_t> scarce, ample;
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      kept_[k] = static_cast<double>(numbers) / static_cast<double>(k + 1) / sum;
      (kept_[k] < 1 ? scarce : ample).push_back(static_cast<std::uint32_t>(k));
    }
    while (!scarce.empty() && !ample.empty()) {
      const std::uint32_t from = ample.back(), to = scarce.back();
      scarce.pop_back();
      other_[to] = from;
      kept_[from] -= 1 - kept_[to];
      if (kept_[from] >= 1) continue;
      ample.pop_back();
      scarce.push_back(from);
    }
    for (const std::uint32_t k : ample) kept_[k] = 1;
    for (const std::uint32_t k : scarce) kept_[k] = 1;  // but for what rounding took
  }

  std::uint32_t draw(Random& random) const {
    const double at = random.uniform() * static_cast<double>(kept_.size());
    const auto place = static_cast<std::size_t>(at);
    return at - static_cast<double>(place) < kept_[place] ? static_cast<std::uint32_t>(place)
                                                          : other_[place];
  }

 private:
  std::vector<double> kept_;  // share of a place that draws its own number
  std::vector<std::uint32_t> other_;
};

}  // namespace loaderscope::dataset
