// Syntax of numbers of tokens and of lengths of documents.
#include <fmt/format.h>

#include "dataset/make_tokens.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

// Parses a whole number with the suffix k, M, G or T; nothing for another text.
std::optional<std::int64_t> with_unit(std::string_view text) {
  constexpr std::string_view kUnits = "kMGT";
  const auto unit = text.empty() ? kUnits.npos : kUnits.find(text.back());
  try {
    if (unit == kUnits.npos) return parse_count(text);
    std::int64_t count = parse_count(text.substr(0, text.size() - 1));
    for (std::size_t i = 0; i <= unit; ++i) {
      if (__builtin_mul_overflow(count, 1000, &count)) return std::nullopt;
    }
    return count;
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

}  // namespace

std::int64_t parse_token_count(std::string_view text) {
  if (const auto count = with_unit(text)) return *count;
  throw ValueError("expected a number of tokens such as 10M");
}

LengthDistribution parse_lengths(std::string_view text) {
  constexpr std::string_view kLognormal = "lognormal:";
  const bool is_spread = text.starts_with(kLognormal);
  if (is_spread) text.remove_prefix(kLognormal.size());
  const auto colon = is_spread ? text.find(':') : text.npos;
  LengthDistribution lengths;
  try {
    lengths.median = static_cast<double>(parse_count(text.substr(0, colon)));
    if (is_spread) lengths.sigma = colon == text.npos ? -1 : parse_real(text.substr(colon + 1));
  } catch (const ValueError&) {
    lengths.median = 0;
  }
  if (lengths.median < 1 || lengths.median > 1e9 || lengths.sigma < 0 || lengths.sigma > 4)
    throw ValueError(
        "expected tokens of a document such as 512 or lognormal:512:1.0 (the spread "
        "at most 4)");
  return lengths;
}

std::string lengths_to_text(const LengthDistribution& lengths) {
  return fmt::format("lognormal:{}:{}", real_to_text(lengths.median), real_to_text(lengths.sigma));
}

}  // namespace loaderscope::dataset
