// loaderscope data make
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/data_flags.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "dataset/make.h"
#include "dataset/make_tokens.h"
#include "dataset/synthetic_copy.h"
#include "job/interrupt.h"

namespace loaderscope {
namespace {

// Texts as given; the data set's own parsers read them.
struct MakeFlags {
  std::string path, like, size, bytes_per_pixel, subsampling, format;
  std::string count, quality, progressive_share, classes, seed, threads;
  std::string shard_size, compress, tokens, vocabulary, documents;

  dataset::Target target() const {
    dataset::Target target;
    read_flag(path, "PATH", target, dataset::parse_target);
    return target;
  }
};

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

void refuse_shards(const MakeFlags& flags) {
  const Taken taken[] = {{"--shard-size", flags.shard_size}, {"--compress", flags.compress}};
  refuse(taken, "is of shards, such as tar:PATH");
}

// Throw UsageError, also for flags that are of something else.
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

dataset::MadeShards made_shards(const MakeFlags& flags, const dataset::WriterRow& writer) {
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

// Text about the made data, and whether it is complete.
struct Made {
  std::string text;
  bool complete = false;
};

Made make_what(const MakeFlags& flags, const dataset::MakeContext& context) {
  if (!flags.like.empty()) {
    const dataset::TwinOptions options = twin_options(flags);
    const dataset::TwinResult made = dataset::make_twin(options, context);
    return {dataset::describe(options.path, made.count, made), made.complete};
  }
  const dataset::Target target = flags.target();
  if (target.writer != nullptr && target.writer->holds_tokens) {
    const dataset::TokenOptions options = token_options(flags, target);
    const dataset::MakeResult made = dataset::make_tokens(options, context);
    return {dataset::describe(options, made), made.complete};
  }
  const dataset::MakeOptions options = make_options(flags, target);
  if (target.writer == nullptr || target.writer->is_loose) {
    refuse_shards(flags);
    const dataset::MakeResult made = dataset::make_dataset(options, context);
    return {dataset::describe(options.path, options.count, made), made.complete};
  }
  const dataset::MadeShards shards = made_shards(flags, *target.writer);
  const dataset::MakeResult made = dataset::make_shards(options, shards, context);
  const std::string text = dataset::describe(options.path, options.count, made);
  if (!made.complete) return {text, false};
  const std::string data = dataset::data_text(*target.writer, options.path, shards.compression);
  return {text + "\nloaderscope run --data '" + shown_text(data) + "'", true};
}

ExitCode make(const MakeFlags& flags) {
  if (flags.target().folder.empty())
    throw UsageError("data make: expected the folder to fill", "loaderscope data make photos");
  const std::atomic<int>& stop_signal = catch_stop_signals();
  Made made;
  {
    const bool counts_tokens =
        flags.target().writer != nullptr && flags.target().writer->holds_tokens;
    ProgressPrinter progress(counts_tokens ? "tokens" : "images");
    dataset::MakeContext context;
    context.stop_signal = &stop_signal;
    context.on_progress = [&](const dataset::MakeProgress& p) {
      progress.show(p.done, static_cast<double>(p.done) /
                                static_cast<double>(std::max<std::int64_t>(p.total, 1)));
    };
    made = make_what(flags, context);
  }
  StandardOutput out;
  out.stream() << made.text << "\n";
  out.finish();
  return made.complete ? ExitCode::ok : exit_code_of_signal(stop_signal.load());
}

}  // namespace

Action declare_data_make(CLI::App& app) {
  const auto flags = std::make_shared<MakeFlags>();
  const auto add = [&](const char* name, std::string& target, const char* value, const char* help) {
    app.add_option(name, target, help)->type_name(value);
  };
  add("PATH", flags->path, "",
      "Fill the folder [FORMAT:]PATH, in a format of `list writer`. Creates it if it is missing. "
      "Default: files.");
  add("--like", flags->like, "DATA",
      "Make a synthetic copy of these images, given as to run --data. It has the same formats, "
      "sides, sizes, quality, classes and damage. Contents and names differ.");
  add("--count", flags->count, "N", "Number of images. Default: 1000, or all of them with --like.");
  add("--size", flags->size, "SIZE",
      "Set the size, such as 500x375 or lognormal:500x375:0.3. Default: 500x375.");
  add("--format", flags->format, "FORMAT", "Write jpeg, png, webp or raw. Default: jpeg.");
  add("--quality", flags->quality, "1..100",
      "Set the quality of JPEG and WebP. Default: 94, about 72 KiB for 500x375.");
  add("--bytes-per-pixel", flags->bytes_per_pixel, "X",
      "Set the stored bytes per pixel, not a quality. Example: 0.39 or 72KiB/500x375.");
  add("--subsampling", flags->subsampling, "420|422|444|grey",
      "Set the colour subsampling of a JPEG. Default: 420.");
  add("--progressive-share", flags->progressive_share, "0..1",
      "Share of progressive JPEGs. Default: 0.");
  add("--classes", flags->classes, "N",
      "Number of folders, one per class. Default: 10, or one per image if there are fewer.");
  add("--shard-size", flags->shard_size, "SIZE",
      "Split into shards of about this size. Default: 256MiB.");
  add("--compress", flags->compress, "zstd|gzip|lz4",
      "Compress whole shards of tar or mds. Shards of tar are then read as streams.");
  add("--tokens", flags->tokens, "N", "Number of tokens of tokens:PATH. Default: 10M.");
  add("--vocabulary", flags->vocabulary, "N",
      "Number of different tokens, the k-th 1/k times as frequent as the first. Default: 50257.");
  add("--documents", flags->documents, "TOKENS",
      "Set the tokens per document, 512 or lognormal:512:1.0. Writes Megatron's tokens.idx. "
      "Default: one text.");
  add("--seed", flags->seed, "N", "The same options and seed give the same files. Default: 0.");
  add("--threads", flags->threads, "N",
      "Number of threads. They never change the result. Default: one per usable core.");
  return [flags] { return make(*flags); };
}

}  // namespace loaderscope
