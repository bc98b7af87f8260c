// loaderscope probe
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/printable.h"
#include "cli/command.h"
#include "cli/command_flags.h"
#include "cli/data_flags.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "job/interrupt.h"
#include "job/machine_profile.h"
#include "job/version_text.h"
#include "machine/machine.h"
#include "report/kinds.h"
#include "report/results.h"

namespace loaderscope {
namespace {

struct ProbeFlags {
  std::string data, path, python, demand, batch_size, ranks, read_at_most;
  AnswerFiles answer;
  std::vector<std::string> against;
  bool quick = false, save = false;
  DetailFlags detail;
};

// "1786/s:154MB"
probe::Demand parse_demand(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos)
    throw ValueError("expected RATE:BYTES, samples and the size of a batch, such as 1786/s:154MB");
  probe::Demand demand;
  demand.samples_per_s = parse_count_rate(text.substr(0, colon));
  demand.batch_bytes = parse_size(text.substr(colon + 1));
  if (demand.batch_bytes < 1) throw ValueError("expected a batch of at least 1 byte");
  return demand;
}

std::int64_t above_zero(std::string_view text) {
  const std::int64_t count = parse_small_count(text);
  if (count < 1) throw ValueError("expected at least 1");
  return count;
}

// Ranks: 0 until the GPUs are known.
std::optional<probe::Demand> parse_demand(const ProbeFlags& flags) {
  constexpr std::int64_t kBatch = 256;
  if (flags.demand.empty()) {
    if (!flags.batch_size.empty())
      throw UsageError("--batch-size: needs --demand",
                       "loaderscope probe --demand 1786/s:154MB --batch-size 256");
    if (!flags.ranks.empty())
      throw UsageError("--ranks: needs --demand",
                       "loaderscope probe --demand 1786/s:154MB --ranks 8");
    return std::nullopt;
  }
  probe::Demand demand;
  read_flag(flags.demand, "--demand", demand,
            [](std::string_view text) { return parse_demand(text); });
  demand.batch_size = kBatch;
  demand.ranks = 0;
  read_flag(flags.batch_size, "--batch-size", demand.batch_size, above_zero);
  read_flag(flags.ranks, "--ranks", demand.ranks, above_zero);
  return demand;
}

probe::ProfileOptions profile_options(const ProbeFlags& flags) {
  constexpr Bytes kMin = Bytes{16} << 20;
  if (!flags.data.empty() && !flags.path.empty())
    throw UsageError("--data and --path exclude each other", "give one of the two");
  probe::ProfileOptions options;
  options.data = flags.data;
  options.path = flags.path;
  options.quick = flags.quick;
  if (!flags.python.empty()) options.python = flags.python;
  read_flag(flags.read_at_most, "--read-at-most", options.read_at_most, parse_size);
  if (!flags.read_at_most.empty() && options.read_at_most < kMin)
    throw UsageError(fmt::format("--read-at-most {}: expected {} or more",
                                 shown_text(flags.read_at_most), size_to_text(kMin)),
                     "give --read-at-most 1GiB");
  if (const char* cpus = std::getenv("SLURM_CPUS_PER_TASK")) options.slurm_cpus = cpus;
  options.runtime = cuda::real_runtime();
  return options;
}

// Reads and checks the profiles before anything is measured.
std::vector<probe::Profile> read_peers(const ProbeFlags& flags) {
  std::vector<probe::Profile> peers;
  for (const std::string& path : flags.against) {
    for (probe::SavedProfile& saved : probe::read_profiles(path))
      peers.push_back(std::move(saved.profile));
  }
  if (!flags.against.empty()) probe::check_peers(read_machine().host.value_or(""), peers);
  return peers;
}

void judge(probe::Profile& profile, std::optional<probe::Demand> demand,
           const std::vector<probe::Profile>& peers) {
  if (demand) {
    const probe::Ceiling* link = profile.ceiling(probe::MachineResource::link);
    if (demand->ranks == 0)
      demand->ranks = link != nullptr ? static_cast<std::int64_t>(link->gpus) : 1;
    probe::judge_demand(profile, *demand);
  }
  if (!peers.empty()) probe::judge_against(profile, peers);
}

ExitCode run_probe(const ProbeFlags& flags) {
  const std::optional<probe::Demand> demand = parse_demand(flags);
  probe::ProfileOptions options = profile_options(flags);
  const Places places = flags.answer.places();
  check_places(places, "probe", {flags.answer.force, flags.against});
  const std::vector<probe::Profile> peers = read_peers(flags);
  const std::atomic<int>& stop_signal = catch_stop_signals();
  probe::Profile profile;
  {
    ProgressPrinter progress("measurements");
    std::int64_t done = 0;
    options.on_progress = [&](std::string_view, double fraction) {
      progress.show(done++, fraction);
    };
    profile = probe::measure_profile(options, stop_signal);
  }
  judge(profile, demand, profile.interrupted ? std::vector<probe::Profile>() : peers);
  write_answer(places, make_result(profile, version_number()), answer_style(flags.detail));
  if (flags.save && !profile.interrupted) {
    const std::string place = save_machine(profile);
    std::fprintf(stderr, "loaderscope: saved as %s, for comparison with runs on this machine\n",
                 printable(place).c_str());
  }
  if (profile.interrupted) return exit_code_of_signal(stop_signal.load());
  const bool is_unlike = profile.against && !profile.against->unlike.empty();
  return is_unlike ? ExitCode::requirement_not_met : ExitCode::ok;
}

}  // namespace

Action declare_probe(CLI::App& app) {
  const auto flags = std::make_shared<ProbeFlags>();
  const auto add = [&](const char* name, std::string& text, const char* help, const char* type) {
    app.add_option(name, text, help)->type_name(type)->take_last();
  };
  add("--data", flags->data,
      "Measure storage and decoding with this data set: [FORMAT:]PATH, as run takes it.", "DATA");
  add("--path", flags->path,
      "Measure storage with one temporary file in this folder; it is removed.", "DIR");
  app.add_flag("--quick", flags->quick,
               "Finish within 5 seconds with rougher results, instead of 30.");
  add("--read-at-most", flags->read_at_most,
      "Read at most this many bytes of storage. Default: 1GiB, or 128MiB with --quick.", "SIZE");
  add("--demand", flags->demand,
      "Judge the figures for a job, such as 1786/s:154MB. That is samples per second of each GPU, "
      "and bytes of a batch as it is copied.",
      "RATE:BYTES");
  add("--batch-size", flags->batch_size, "Samples in the batch of --demand. Default: 256.", "N");
  add("--ranks", flags->ranks,
      "Number of GPUs that the machine loads for. Default: those of the machine, or 1.", "N");
  app.add_option("--against", flags->against,
                 "Compare with saved profiles: a file or a list. Exits with 2 if this machine "
                 "differs. Repeatable.")
      ->type_name("FILE")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--save", flags->save,
               "Keep the profile for this machine in the cache folder. run, sweep, tune, what-if "
               "and compare then print shares of it.");
  add("--python", flags->python, "Start workers with this Python. Default: python3.", "PROGRAM");
  add("--json", flags->answer.json, "Also write the profile to this file; - prints only JSON.",
      "FILE");
  add("--html", flags->answer.html, "Also save a page with its pictures in this file.", "FILE");
  app.add_flag("--force", flags->answer.force,
               "Let --json FILE and --html FILE replace files that are no results.");
  add_detail(app, flags->detail);
  return [flags] { return run_probe(*flags); };
}

}  // namespace loaderscope
