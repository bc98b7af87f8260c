#include "dataset/make_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/thread_team.h"
#include "dataset/files.h"
#include "dataset/manifest.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

constexpr std::int64_t kDrawnAtOnce = std::int64_t{1}
                                      << 20;  // tokens that are drawn from one stream
constexpr std::int64_t kMaxTokens = 100'000'000'000'000;
constexpr std::int64_t kMaxWords = std::int64_t{1} << 22;
constexpr std::int64_t kMaxOfDocument = std::int64_t{1} << 30;
constexpr std::uint64_t kDocumentStream = ~std::uint64_t{0};  // their stream

bool is_narrow(const TokenOptions& options) { return options.vocabulary <= 1 << 16; }
Bytes bytes_of_token(const TokenOptions& options) { return is_narrow(options) ? 2 : 4; }
std::string file_path(const TokenOptions& options, std::string_view name) {
  return options.path + "/" + std::string(name);
}

void demand_of_tokens(bool holds, std::string_view flag, std::string_view expected) {
  if (!holds)
    throw UsageError(fmt::format("{}: expected {}", flag, expected),
                     "see loaderscope data make --help");
}

void check_options(const TokenOptions& options) {
  demand_of_tokens(!options.path.empty(), "PATH", "the folder to fill after tokens:");
  demand_of_tokens(options.tokens >= 1 && options.tokens <= kMaxTokens, "--tokens",
                   "1 to 100,000,000,000,000");
  demand_of_tokens(options.vocabulary >= 2 && options.vocabulary <= kMaxWords, "--vocabulary",
                   "2 to 4194304");
}

template <class Number>
void draw_block(const Zipf& words, Random& random, std::vector<std::byte>& to) {
  for (std::size_t at = 0; at < to.size(); at += sizeof(Number)) {
    const auto token = static_cast<Number>(words.draw(random));
    std::memcpy(to.data() + at, &token, sizeof token);
  }
}

// Returns the number of written tokens.
std::int64_t write_tokens(const TokenOptions& options, WholeFile& file,
                          const MakeContext& context) {
  const Zipf words(options.vocabulary);
  std::atomic<std::int64_t> next{0}, done{0};
  ThreadTeam team(context.stop_signal);
  const auto work = [&] {
    std::vector<std::byte> block;
    for (std::int64_t i = next++; i * kDrawnAtOnce < options.tokens && !team.stopping();
         i = next++) {
      const std::int64_t tokens = std::min(kDrawnAtOnce, options.tokens - i * kDrawnAtOnce);
      block.resize(static_cast<std::size_t>(tokens * bytes_of_token(options)));
      Random random(options.seed, static_cast<std::uint64_t>(i));
      if (is_narrow(options))
        draw_block<std::uint16_t>(words, random, block);
      else
        draw_block<std::uint32_t>(words, random, block);
      file.put(i * kDrawnAtOnce * bytes_of_token(options), block);
      done += tokens;
    }
  };
  team.run(options.threads, work, [&] {
    if (context.on_progress) context.on_progress({done, options.tokens, 0});
  });
  return done;
}

std::vector<std::int32_t> document_lengths(const TokenOptions& options) {
  std::vector<std::int32_t> lengths;
  Random random(options.seed, kDocumentStream);
  for (std::int64_t left = options.tokens; left > 0;) {
    const double drawn = std::round(options.documents->median *
                                    std::exp(options.documents->sigma * random.normal()));
    const auto length = static_cast<std::int64_t>(
        std::clamp(drawn, 1.0, static_cast<double>(std::min(left, kMaxOfDocument))));
    lengths.push_back(static_cast<std::int32_t>(length));
    left -= length;
  }
  return lengths;
}

template <class Number>
void append_numbers(OutputFile& file, std::span<const Number> numbers) {
  file.append(std::as_bytes(numbers));
}
template <class Number>
void append_number(OutputFile& file, Number number) {
  append_numbers<Number>(file, std::span(&number, 1));
}

// Megatron's: each document is one sequence.
void write_index(const TokenOptions& options) {
  constexpr std::uint8_t kInt32 = 4, kUint16 = 8;
  const std::vector<std::int32_t> lengths = document_lengths(options);
  OutputFile file(file_path(options, "tokens.idx"));
  append_numbers<char>(file, std::string_view("MMIDIDX\0\0", 9));
  append_number<std::uint64_t>(file, 1);
  append_number<std::uint8_t>(file, is_narrow(options) ? kUint16 : kInt32);
  append_number<std::uint64_t>(file, lengths.size());
  append_number<std::uint64_t>(file, lengths.size() + 1);
  append_numbers<std::int32_t>(file, lengths);
  std::int64_t begin = 0;
  for (const std::int32_t length : lengths) {
    append_number(file, begin);
    begin += length * bytes_of_token(options);
  }
  for (std::size_t i = 0; i <= lengths.size(); ++i)
    append_number(file, static_cast<std::int64_t>(i));
  file.finish();
}

}  // namespace

MakeResult make_tokens(const TokenOptions& options, const MakeContext& context) {
  check_options(options);
  const MadeFolder folder = made_folder(options);
  const FolderState before = state_of_folder(folder);
  const Bytes bytes = options.tokens * bytes_of_token(options);
  const std::string path = file_path(options, "tokens.bin");
  const bool has_index = !options.documents || is_written(file_path(options, "tokens.idx"));
  if (before == FolderState::complete && is_written(path) && has_index)
    return {0, options.tokens, 0, true};
  // An interrupted run starts again.
  const FolderInMaking filled(folder, FolderState::fresh, static_cast<double>(bytes),
                              "lower --tokens");
  WholeFile file(path);
  const std::int64_t made = write_tokens(options, file, context);
  if (made < options.tokens) return {made, 0, 0, false};
  if (options.documents) write_index(options);
  file.finish();
  filled.note_complete();
  return {made, 0, bytes, true};
}

std::string describe(const TokenOptions& options, const MakeResult& result) {
  const std::string place = shown_text(options.path);
  if (!result.complete)
    return fmt::format("{}: stopped before all {} tokens were made; the same command begins again",
                       place, format_count(options.tokens));
  const std::string what =
      result.made == 0 ? fmt::format("holds these {} tokens already", format_count(options.tokens))
                       : fmt::format("{} tokens made, {}", format_count(result.made),
                                     format_size(static_cast<double>(result.bytes)));
  const bool has_type = options.documents || is_narrow(options);
  return fmt::format("{}: {}\nloaderscope run --data 'tokens:{}{}'", place, what, place,
                     has_type ? "" : "?type=u32");
}

// Syntax of numbers of tokens and of lengths of documents.

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
