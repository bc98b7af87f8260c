// loaderscope data pack
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/data_flags.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "dataset/pack.h"
#include "job/interrupt.h"

namespace loaderscope {
namespace {

// Texts as given; the data set's own parsers read them.
struct PackFlags {
  std::string from, to, encode, max_side, compress, shard_size, row_group, seed, threads;
  std::vector<std::string> augment;
  std::string size;
  bool in_order = false, restart_rows = false;
};

dataset::PackOptions pack_options(const PackFlags& flags) {
  if (flags.from.empty() || flags.to.empty())
    throw UsageError("data pack: expected the images and the folder to fill",
                     "loaderscope data pack photos tar:shards");
  dataset::PackOptions options;
  options.from = flags.from;
  dataset::Target target;
  read_flag(flags.to, "SHARDS", target, dataset::parse_target);
  if (target.writer != nullptr) options.writer = target.writer;
  options.to = target.folder;
  read_flag(flags.encode, "--encode", options.encode, dataset::parse_encoding);
  read_flag(flags.max_side, "--max-side", options.max_side, parse_small_count);
  options.augment = flags.augment;
  read_flag(flags.size, "--size", options.size, parse_small_count);
  read_flag(flags.compress, "--compress", options.compression,
            [](std::string_view text) { return &dataset::parse_compression(text); });
  read_flag(flags.shard_size, "--shard-size", options.shard_size, parse_size);
  read_flag(flags.row_group, "--row-group", options.row_group, parse_small_count);
  read_flag(flags.seed, "--seed", options.seed, parse_count);
  read_flag(flags.threads, "--threads", options.threads, parse_small_count);
  if (flags.in_order && !flags.seed.empty())
    throw UsageError("--seed: contradicts --in-order", "give one of them");
  options.in_order = flags.in_order;
  options.restart_rows = flags.restart_rows;
  return options;
}

ExitCode pack(const PackFlags& flags) {
  const dataset::PackOptions options = pack_options(flags);
  const std::atomic<int>& stop_signal = catch_stop_signals();
  dataset::PackResult result;
  {
    ProgressPrinter progress("samples");
    dataset::PackContext context;
    context.stop_signal = &stop_signal;
    context.on_progress = [&](const dataset::PackProgress& p) {
      progress.show(p.done, static_cast<double>(p.done) /
                                static_cast<double>(std::max<std::int64_t>(p.total, 1)));
    };
    result = dataset::pack_dataset(options, context);
  }
  StandardOutput out;
  out.stream() << dataset::describe(options, result) << "\n";
  out.finish();
  return result.complete ? ExitCode::ok : exit_code_of_signal(stop_signal.load());
}

}  // namespace

Action declare_data_pack(CLI::App& app) {
  const auto flags = std::make_shared<PackFlags>();
  const auto add = [&](const char* name, std::string& target, const char* value, const char* help) {
    app.add_option(name, target, help)->type_name(value);
  };
  add("SOURCE", flags->from, "",
      "Images of any format, given as to run --data, such as photos or tar:shards.");
  add("SHARDS", flags->to, "",
      "Fill the folder [FORMAT:]PATH, in a format of `list writer`. Creates it, or resumes an "
      "interrupted run. Default: tar.");
  add("--shard-size", flags->shard_size, "SIZE",
      "Split into shards of about this size, with equal numbers of samples. Default: 256MiB.");
  add("--row-group", flags->row_group, "N",
      "Samples of each row group of parquet, which is read as a whole. Default: 100.");
  add("--encode", flags->encode, "FORMAT[:QUALITY]",
      "Decode the images and encode them as jpeg:90, webp:80, png or raw. Default: the stored "
      "bytes, unchanged.");
  add("--max-side", flags->max_side, "PIXELS",
      "Shrink images with a longer side than this, with --encode.");
  app.add_option("--augment", flags->augment,
                 "Apply an operation of `list operation` once for all epochs, with --encode. "
                 "Repeatable; the crop is first.")
      ->type_name("OP[:PARAMETERS]")
      ->take_all()
      ->expected(1);
  add("--size", flags->size, "PIXELS",
      "Size of the squares that --augment gives, in pixels. Default: 256.");
  add("--compress", flags->compress, "zstd|gzip|lz4",
      "Compress whole shards of tar or mds, or the pages of parquet. Shards of tar are then read "
      "as streams.");
  app.add_flag(
      "--restart-rows", flags->restart_rows,
      "Give JPEG images restart markers, without loss. Crops then decode no more than they need.");
  app.add_flag(
      "--in-order", flags->in_order,
      "Keep the order of the folder. Default: shuffled, so that shards can be read in order.");
  add("--seed", flags->seed, "N", "Set the seed of the shuffle. Default: 0.");
  add("--threads", flags->threads, "N",
      "Number of threads. They never change the result. Default: one per usable core.");
  return [flags] { return pack(*flags); };
}

}  // namespace loaderscope
