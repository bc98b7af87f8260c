#include "cli/data_make_flags.h"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace loaderscope {
namespace {

using Taken = std::pair<const char*, const std::string&>;

void refuse(std::span<const Taken> flags, std::string_view why) {
  for (const auto& [name, text] : flags) {
    if (!text.empty()) throw UsageError(fmt::format("{}: {}", name, why), "leave it out");
  }
}

void refuse_images(const MakeFlags& flags, std::string_view why) {
  const Taken taken[] = {{"--size", flags.size},
                         {"--format", flags.format},
                         {"--quality", flags.quality},
                         {"--bytes-per-pixel", flags.bytes_per_pixel},
                         {"--subsampling", flags.subsampling},
                         {"--progressive-share", flags.progressive_share},
                         {"--classes", flags.classes}};
  refuse(taken, why);
}

void refuse_tokens(const MakeFlags& flags) {
  const Taken taken[] = {{"--tokens", flags.tokens},
                         {"--vocabulary", flags.vocabulary},
                         {"--documents", flags.documents}};
  refuse(taken, "is of tokens:PATH");
}

}  // namespace

void refuse_shards(const MakeFlags& flags) {
  const Taken taken[] = {{"--shard-size", flags.shard_size}, {"--compress", flags.compress}};
  refuse(taken, "is of shards, such as tar:PATH");
}

dataset::MakeOptions make_options(const MakeFlags& flags, const dataset::Target& target) {
  refuse_tokens(flags);
  dataset::MakeOptions options;
  options.path = target.folder;
  if (target.writer != nullptr && target.writer->takes_pixels)
    options.format = dataset::Format::raw;
  read_flag(flags.count, "--count", options.count, parse_count);
  read_flag(flags.size, "--size", options.size, dataset::parse_size_distribution);
  read_flag(flags.format, "--format", options.format, dataset::parse_format);
  read_flag(flags.quality, "--quality", options.quality, parse_small_count);
  double bytes_per_pixel = 0;
  read_flag(flags.bytes_per_pixel, "--bytes-per-pixel", bytes_per_pixel,
            dataset::parse_bytes_per_pixel);
  if (!flags.bytes_per_pixel.empty()) {
    if (!flags.quality.empty())
      throw UsageError("--bytes-per-pixel: contradicts --quality", "give one of them");
    options.bytes_per_pixel = bytes_per_pixel;
  }
  read_flag(flags.subsampling, "--subsampling", options.subsampling, dataset::parse_subsampling);
  read_flag(flags.progressive_share, "--progressive-share", options.progressive_share, parse_real);
  options.classes = std::min(std::max<std::int64_t>(options.count, 1), options.classes);
  read_flag(flags.classes, "--classes", options.classes, parse_count);
  read_flag(flags.seed, "--seed", options.seed, parse_count);
  read_flag(flags.threads, "--threads", options.threads, parse_small_count);
  const bool jpeg = options.format == dataset::Format::jpeg;
  if (!flags.subsampling.empty() && !jpeg)
    throw UsageError("--subsampling: expected --format jpeg",
                     "give --format jpeg, or leave it out");
  if (!flags.quality.empty() && !jpeg && options.format != dataset::Format::webp)
    throw UsageError("--quality: expected --format jpeg or webp",
                     "give --format jpeg, or leave it out");
  dataset::check_options(options);
  return options;
}

// A synthetic copy is what the other data is: nothing but how many and which can be chosen.
dataset::TwinOptions twin_options(const MakeFlags& flags) {
  refuse_images(flags, "contradicts --like, which says it");
  refuse_tokens(flags);
  refuse_shards(flags);
  dataset::TwinOptions options;
  const dataset::Target target = flags.target();
  if (target.writer != nullptr && !target.writer->is_loose)
    throw UsageError("PATH: expected a folder with --like",
                     "make shards of the synthetic copy with data pack");
  options.path = target.folder;
  options.like = flags.like;
  std::int64_t count = 1;
  read_flag(flags.count, "--count", count, parse_count);
  if (count < 1) throw UsageError("--count: expected at least 1", "give --count 1000");
  if (!flags.count.empty()) options.count = count;
  read_flag(flags.seed, "--seed", options.seed, parse_count);
  read_flag(flags.threads, "--threads", options.threads, parse_small_count);
  return options;
}

dataset::MadeShards shards_of(const MakeFlags& flags, const dataset::WriterRow& writer) {
  dataset::MadeShards shards;
  shards.writer = &writer;
  read_flag(flags.shard_size, "--shard-size", shards.shard_size, parse_size);
  read_flag(flags.compress, "--compress", shards.compression,
            [](std::string_view text) { return &dataset::parse_compression(text); });
  return shards;
}

dataset::TokenOptions token_options(const MakeFlags& flags, const dataset::Target& target) {
  constexpr std::string_view kWhy = "is of images, and tokens are made";
  const Taken count[] = {{"--count", flags.count}};
  refuse(count, kWhy);
  refuse_images(flags, kWhy);
  refuse_shards(flags);
  dataset::TokenOptions options;
  options.path = target.folder;
  read_flag(flags.tokens, "--tokens", options.tokens, dataset::parse_token_count);
  read_flag(flags.vocabulary, "--vocabulary", options.vocabulary, parse_count);
  read_flag(flags.documents, "--documents", options.documents, dataset::parse_lengths);
  read_flag(flags.seed, "--seed", options.seed, parse_count);
  read_flag(flags.threads, "--threads", options.threads, parse_small_count);
  return options;
}

}  // namespace loaderscope
