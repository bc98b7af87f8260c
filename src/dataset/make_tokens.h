// `data make tokens:PATH`: tokens with the unequal frequencies of words of text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dataset/make.h"

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

}  // namespace loaderscope::dataset
