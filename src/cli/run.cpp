// loaderscope run
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "base/thread_meter.h"
#include "cli/against.h"
#include "cli/analyse_run.h"
#include "cli/command.h"
#include "cli/command_flags.h"
#include "cli/config_flags.h"
#include "cli/export_flags.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/requirements.h"
#include "cli/run_job.h"
#include "cli/saved_result.h"
#include "job/interrupt.h"
#include "job/machine_profile.h"
#include "job/nsys_capture.h"
#include "loaderscope/engine.h"
#include "loaderscope/findings.h"
#include "loaderscope/report.h"
#include "loaderscope/settings.h"
#include "machine/machine.h"
#include "record/family_traits.h"
#include "record/partial_run.h"
#include "report/results.h"

namespace loaderscope {
namespace {

constexpr CommandFlag kRunFlags[] = {
    {"try", "", "",
     "Run the advised setting briefly, alternating with the present ones, and report the gain. "
     "Same as --prove fix."},
    {"against", "", "RESULT",
     "Compare with this saved result, and begin the answer with the difference. last is the run "
     "before this one."},
    {"budget", "", "DURATION", "Time for the runs of --try together. Default: 3m."},
    {"nsys", "", "FILE",
     "Record the program after -- with nsys into FILE.nsys-rep too. Export it, and report GPU "
     "waits by nsys's times."},
    {"rendezvous", "", "WAY",
     "Join several processes into one job by env, mpi or off. Splits --ranks, or merges the hosts "
     "of "
     "a program. Default: as mpirun or srun started it."},
    {"rendezvous-wait", "", "TIME",
     "Time that the processes of a job wait for each other. Default: 60s."},
    {"also-json", "", "FILE",
     "Save the result in this file too, which no answer names. Use it in programs that remove the "
     "file."},
    {"no-answer", "", "",
     "Print no answer. Only the files of --json, --html and others get the result."},
    kMetricsFlag,
    kOtlpFlag,
    kOtlpIntervalFlag,
    kMachineFlag,
    kNoProjectFlag,
    kVerbose,
    kSummary,
};

struct RunFlags {
  explicit RunFlags(CLI::App& app) : base(app), own(app, kRunFlags) {}

  ConfigFlags base;
  CommandFlags own;
};

RunConfig given_by(RunFlags& flags) {
  RunConfig given = flags.own.read(flags.base);
  if (!flags.own.is_on("try")) return given;
  if (given.answer.prove.given)
    throw UsageError("--try: is another word for --prove fix", "give one of the two");
  given.answer.prove.set(Prove::fix);
  return given;
}

Places all_places(const RunConfig& config, const CommandFlags& own) {
  Places places = result_places(config);
  if (!own.is_given("also-json")) return places;
  const std::string also = own.text("also-json");
  if (also.empty() || also == "-") own.refuse("also-json", "expected a file");
  places.push_back({"json", also});
  return places;
}

void write_results(const Places& places, const ReportStyle& style, const RunRecord& record,
                   const Analysis& analysis) {
  const AnyResult result = make_result(record, analysis);
  keep_last_result(record, result);
  write_answer(places, result, style);
}

Nanos rendezvous_wait(const CommandFlags& own) {
  const Nanos wait = own.value("rendezvous-wait", parse_duration, kUsualWait);
  if (wait < kSecond) own.refuse("rendezvous-wait", "expected a second or more, such as 60s");
  return wait;
}

// Returns the address of this process in its job. By default, the job has one rank per process.
std::optional<ProcessAddress> process_address(const CommandFlags& own, RunConfig& given) {
  const std::string way = own.text("rendezvous");
  if (own.is_given("nsys")) {
    if (!way.empty() && way != "off")
      own.refuse("rendezvous",
                 "--nsys records one host; give it there without, and bring the results together "
                 "with 'loaderscope merge'");
    return std::nullopt;
  }
  std::optional<ProcessAddress> place = place_in_job(way, given, rendezvous_wait(own));
  if (place && !given.program.command.given && !given.trainer.ranks.given)
    given.trainer.ranks.set(place->processes);
  return place;
}

// Prints only the reason of a failure. The measurements until then are kept as the last result.
void write_part(const Places& places, const ReportStyle& style, const RunRecord& record,
                const Analysis& analysis, const std::string& reason) {
  const AnyResult result = make_result(record, analysis);
  const bool is_kept = keep_last_result(record, result);
  std::fprintf(stderr, "loaderscope: %s\n", printable(reason).c_str());
  if (is_kept)
    std::fputs("hint: 'loaderscope report last' shows what was measured until then\n", stderr);
  is_kept ? write_files(places, result, style) : write_answer(places, result, style);
}

// Returns nothing if the run failed, and then writes the measurements until the failure.
std::optional<RunRecord> measure_or_write_part(const RunConfig& config, const MachineFacts& machine,
                                               const std::vector<std::string>& notes,
                                               const ProbedRates& rates, const Places& places,
                                               const ReportStyle& style,
                                               const monitor::ExportOptions& exports,
                                               const std::atomic<int>& stop_signal) {
  try {
    RunRecord record = measure(config, machine, notes, stop_signal, {}, nullptr, nullptr, &exports);
    add_known_rates(rates, record);
    return record;
  } catch (const PartialRunError& broken) {
    add_known_rates(rates, *broken.record);
    const Analysis analysis = analysed(*broken.record, &stop_signal);
    if (stop_signal == 0) {
      write_part(places, style, *broken.record, analysis, broken.what());
      return std::nullopt;
    }
    write_results(places, style, *broken.record, analysis);
    throw;
  }
}

// Below our own answer that of the same run's trace.
void add_answer_of_nsys(const NsysCapture& capture, const ReportStyle& style,
                        const std::atomic<int>& stop_signal) {
  traces::TraceOptions options;
  options.files = {capture.export_report(stop_signal)};
  const auto [record, analysis] = answer_of_traces(options);
  std::printf("\nby nsys (%s):\n", printable(options.files.front()).c_str());
  std::fflush(stdout);
  write_answer({}, make_result(record, analysis), style);
}

ExitCode run(RunFlags& flags) {
  RunConfig given = given_by(flags);
  std::optional<ProcessAddress> place = process_address(flags.own, given);
  std::optional<NsysCapture> nsys;
  if (flags.own.is_given("nsys")) {
    nsys.emplace(flags.own.text("nsys"), given);
    given.program.command.value = nsys->command();
  }
  ReportStyle style = answer_style(flags.own);
  style.silent = flags.own.is_on("no-answer");
  const monitor::ExportOptions exports = export_options(flags.own);
  MachineFacts machine = read_machine();
  const MachineLimits limits = machine_limits(machine, given);
  machine.unusable_gpu = limits.unusable_gpu;
  std::vector<std::string> notes;
  const RunConfig config = resolve(given, limits, notes);
  check_requirements(config.answer.require.value);
  const Nanos budget = budget_of_trial(flags.own, given);
  const bool answers = !place || place->number == 0;
  const Places places = answers ? all_places(config, flags.own) : Places{};
  if (answers) check_places(places, "run", flags.base.output_rules(config));
  ProbedRates rates;
  if (!is_model_engine(config.engine.value))
    rates = known_rates(flags.own.text(kMachineFlag.name), machine, config.data, notes);

  const std::atomic<int>& stop_signal = catch_stop_signals();
  std::optional<EarlierRun> earlier;
  if (answers && flags.own.is_given("against")) earlier.emplace(flags.own.text("against"), config);
  const auto add_earlier = [&](const RunRecord& record, Analysis& analysis) {
    if (earlier) analysis.against = earlier->compare_with(record);
  };
  if (place) {
    const JobRun job{
        config,
        machine,
        notes,
        rendezvous_wait(flags.own),
        [&](RunRecord& record) { add_known_rates(rates, record); },
        add_earlier,
        [&](const RunRecord& record, const Analysis& analysis) {
          write_results(places, style, record, analysis);
        },
        [&](const RunRecord& record, const Analysis& analysis, const std::string& reason) {
          write_part(places, style, record, analysis, reason);
        },
        exports};
    return run_job(job, std::move(*place), stop_signal);
  }
  const Nanos begin = monotonic_now();
  std::optional<RunRecord> measured =
      measure_or_write_part(config, machine, notes, rates, places, style, exports, stop_signal);
  if (!measured) return exit_code_of_failure();
  RunRecord& record = *measured;
  const Nanos start = start_of_run(record, begin, monotonic_now() - begin);
  if (nsys) record.config.program.command.value = nsys->program();
  const int ended_by = take_stop_signal();
  Analysis analysis = analysed(record, &stop_signal);
  add_earlier(record, analysis);
  if (config.answer.prove != Prove::off)
    add_proof(analysis, record, machine, {.budget = budget, .start = start}, stop_signal);
  const bool only_json = config.answer.json.value == "-";
  const ExitCode judgement = judge_and_answer(config.answer.require.value, record, analysis, [&] {
    write_results(places, style, record, analysis);
    if (nsys && !only_json) add_answer_of_nsys(*nsys, style, stop_signal);
  });
  const int signal = ended_by != 0 ? ended_by : stop_signal.load();
  return signal != 0 ? exit_code_of_signal(signal) : judgement;
}

}  // namespace

Action declare_run(CLI::App& app) {
  const auto flags = std::make_shared<RunFlags>(app);
  return [flags] { return run(*flags); };
}

}  // namespace loaderscope
