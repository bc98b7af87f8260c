// loaderscope data make
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "cli/command.h"
#include "cli/data_make_flags.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "dataset/make.h"
#include "dataset/make_tokens.h"
#include "dataset/synthetic_copy.h"
#include "job/interrupt.h"

namespace loaderscope {
namespace {

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
  const dataset::MadeShards shards = shards_of(flags, *target.writer);
  const dataset::MakeResult made = dataset::make_shards(options, shards, context);
  const std::string text = dataset::describe(options.path, options.count, made);
  if (!made.complete) return {text, false};
  const std::string data = dataset::data_text(*target.writer, options.path, shards.compression);
  return {text + "\nloaderscope run --data '" + shown_text(data) + "'", true};
}

ExitCode make(const MakeFlags& flags) {
  if (flags.target().folder.empty())
    throw UsageError("data make: expected the folder to fill, such as data make photos");
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
      "The folder to fill, [FORMAT:]PATH, of a format of `list writer`; made when it is missing. "
      "Default: files.");
  add("--like", flags->like, "DATA",
      "Make a synthetic copy of these images, as run --data has them: the same formats, sides, "
      "stored sizes, "
      "quality, classes and damage, and nothing of their content or names.");
  add("--count", flags->count, "N", "Images. Default: 1000; with --like all of them.");
  add("--size", flags->size, "SIZE",
      "500x375, or a distribution such as lognormal:500x375:0.3. Default: 500x375.");
  add("--format", flags->format, "FORMAT", "jpeg, png, webp or raw. Default: jpeg.");
  add("--quality", flags->quality, "1..100",
      "Of JPEG and WebP. Default: 94, about 72 KiB for 500x375.");
  add("--bytes-per-pixel", flags->bytes_per_pixel, "X",
      "Stored bytes per pixel, instead of a quality, such as 0.39 or 72KiB/500x375.");
  add("--subsampling", flags->subsampling, "420|422|444|grey",
      "Of the colours of a JPEG. Default: 420.");
  add("--progressive-share", flags->progressive_share, "0..1",
      "Share of progressive JPEGs. Default: 0.");
  add("--classes", flags->classes, "N",
      "Folders, one per class. Default: 10, or one per image where there are fewer.");
  add("--shard-size", flags->shard_size, "SIZE", "Of each shard, about. Default: 256MiB.");
  add("--compress", flags->compress, "zstd|gzip|lz4",
      "Compress each shard of tar or mds as a whole; those of tar are then read as streams.");
  add("--tokens", flags->tokens, "N", "Of tokens:PATH, such as 10M. Default: 10M.");
  add("--vocabulary", flags->vocabulary, "N",
      "Of them the different ones, the k-th 1/k times as frequent as the first. Default: 50257.");
  add("--documents", flags->documents, "TOKENS",
      "Of a document, 512 or lognormal:512:1.0: with Megatron's tokens.idx. Default: one text.");
  add("--seed", flags->seed, "N", "The same options and seed give the same files. Default: 0.");
  add("--threads", flags->threads, "N",
      "Never changes what is written. Default: one per usable core.");
  return [flags] { return make(*flags); };
}

}  // namespace loaderscope
