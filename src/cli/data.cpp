// loaderscope data make, loaderscope data info
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/command.h"
#include "cli/data_flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/version_text.h"
#include "dataset/make.h"
#include "dataset/twin.h"
#include "report/results.h"

namespace loaderscope {
namespace {

// Texts as given; the data set's own parsers read them.
struct MakeFlags {
  std::string path, like, size, bytes_per_pixel, subsampling, format;
  std::string count, quality, progressive_share, classes, seed, threads;
};

dataset::MakeOptions make_options(const MakeFlags& flags) {
  dataset::MakeOptions options;
  options.path = flags.path;
  if (options.path.empty())
    throw UsageError("data make: expected the folder to fill, such as data make photos");
  read_flag(flags.count, "--count", options.count, parse_count);
  read_flag(flags.size, "--size", options.size, dataset::parse_size_distribution);
  read_flag(flags.format, "--format", options.format, dataset::parse_format);
  read_flag(flags.quality, "--quality", options.quality, parse_small_count);
  double bytes_per_pixel = 0;
  read_flag(flags.bytes_per_pixel, "--bytes-per-pixel", bytes_per_pixel,
            dataset::parse_bytes_per_pixel);
  if (!flags.bytes_per_pixel.empty()) {
    if (!flags.quality.empty())
      throw UsageError("--bytes-per-pixel: contradicts --quality; give one of them");
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
    throw UsageError("--subsampling: expected --format jpeg, or leave it out");
  if (!flags.quality.empty() && !jpeg && options.format != dataset::Format::webp)
    throw UsageError("--quality: expected --format jpeg or webp, or leave it out");
  dataset::check_options(options);
  return options;
}

// A twin is what the other data is: nothing but how many and which can be chosen.
dataset::TwinOptions twin_options(const MakeFlags& flags) {
  const std::pair<const char*, const std::string&> taken[] = {
      {"--size", flags.size},
      {"--format", flags.format},
      {"--quality", flags.quality},
      {"--bytes-per-pixel", flags.bytes_per_pixel},
      {"--subsampling", flags.subsampling},
      {"--progressive-share", flags.progressive_share},
      {"--classes", flags.classes}};
  for (const auto& [name, text] : taken) {
    if (!text.empty())
      throw UsageError(std::string(name) + ": contradicts --like, which says it; leave it out");
  }
  dataset::TwinOptions options;
  options.path = flags.path;
  options.like = flags.like;
  if (options.path.empty())
    throw UsageError(
        "data make: expected the folder to fill, such as data make twin --like photos");
  std::int64_t count = 1;
  read_flag(flags.count, "--count", count, parse_count);
  if (count < 1) throw UsageError("--count: expected at least 1");
  if (!flags.count.empty()) options.count = count;
  read_flag(flags.seed, "--seed", options.seed, parse_count);
  read_flag(flags.threads, "--threads", options.threads, parse_small_count);
  return options;
}

ExitCode make(const MakeFlags& flags) {
  const bool is_twin = !flags.like.empty();
  const dataset::TwinOptions twin = is_twin ? twin_options(flags) : dataset::TwinOptions{};
  const dataset::MakeOptions options = is_twin ? dataset::MakeOptions{} : make_options(flags);
  const std::atomic<int>& stop_signal = catch_stop_signals();
  dataset::TwinResult result;
  {
    ProgressPrinter progress("images");
    dataset::MakeContext context;
    context.stop_signal = &stop_signal;
    context.on_progress = [&](const dataset::MakeProgress& p) {
      progress.show(p.done, static_cast<double>(p.done) /
                                static_cast<double>(std::max<std::int64_t>(p.total, 1)));
    };
    if (is_twin) {
      result = dataset::make_twin(twin, context);
    } else {
      static_cast<dataset::MakeResult&>(result) = dataset::make_dataset(options, context);
      result.count = options.count;
    }
  }
  StandardOutput out;
  out.stream() << dataset::describe(flags.path, result.count, result) << "\n";
  out.finish();
  return result.complete ? ExitCode::ok : exit_code_of_signal(stop_signal.load());
}

struct InfoFlags {
  std::string path, other, html;
  bool check = false, json = false, force = false;
};

dataset::DatasetInfo looked_at(const std::string& data, const InfoFlags& flags,
                               const std::atomic<int>& stop_signal) {
  ProgressPrinter progress("files");
  dataset::InfoContext context;
  context.stop_signal = &stop_signal;
  context.on_progress = [&](const dataset::InfoProgress& p) { progress.show(p.files, 0); };
  if (flags.check) context.make_decoder = [] { return make_any_decoder({}); };
  return dataset::inspect_dataset(data, context);
}

ExitCode info(const InfoFlags& flags) {
  if (flags.path.empty())
    throw UsageError("data info: expected the data to look at, such as data info photos");
  Places places;
  if (flags.json) places.push_back({"json", "-"});
  if (!flags.html.empty()) places.push_back({"html", flags.html});
  const bool is_drift = !flags.other.empty();
  check_places(places, is_drift ? "dataset-drift" : "dataset-info", {flags.force, {}});
  const std::atomic<int>& stop_signal = catch_stop_signals();
  const auto code = [&](bool interrupted) {
    return interrupted ? exit_code_of_signal(stop_signal.load()) : ExitCode::ok;
  };
  dataset::DatasetInfo first = looked_at(flags.path, flags, stop_signal);
  if (!is_drift) {
    write_answer(places, result_of(first, version_number()), standard_output_style(false));
    return code(first.interrupted);
  }
  const dataset::Drift drift =
      dataset::drift_between(std::move(first), looked_at(flags.other, flags, stop_signal));
  write_answer(places, result_of(drift, version_number()), standard_output_style(false));
  return code(drift.a.interrupted || drift.b.interrupted);
}

}  // namespace

Action declare_data_make(CLI::App& app) {
  const auto flags = std::make_shared<MakeFlags>();
  const auto add = [&](const char* name, std::string& target, const char* value, const char* help) {
    app.add_option(name, target, help)->type_name(value);
  };
  add("PATH", flags->path, "", "The folder to fill; made when it is missing.");
  add("--like", flags->like, "DATA",
      "Make a twin of these images, as run --data has them: the same formats, sides, stored sizes, "
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
  add("--seed", flags->seed, "N", "The same options and seed give the same files. Default: 0.");
  add("--threads", flags->threads, "N",
      "Never changes what is written. Default: one per usable core.");
  return [flags] { return make(*flags); };
}

Action declare_data_info(CLI::App& app) {
  const auto flags = std::make_shared<InfoFlags>();
  app.add_option("DATA", flags->path, "The data to look at, as run --data has it.");
  app.add_option("OTHER", flags->other, "Data to compare it with: in what they differ.");
  app.add_flag("--check", flags->check, "Decode every image, not only look at its header.");
  app.add_flag("--json", flags->json, "Print JSON.");
  app.add_option("--html", flags->html, "Also save a page with its pictures in this file.")
      ->type_name("FILE");
  app.add_flag("--force", flags->force, "Let --html FILE replace a file that is no result.");
  return [flags] { return info(*flags); };
}

}  // namespace loaderscope
