// loaderscope run
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/proof/proof_runs.h"
#include "base/printable.h"
#include "cli/analysed.h"
#include "cli/command.h"
#include "cli/config_flags.h"
#include "cli/interrupt.h"
#include "cli/last_result.h"
#include "cli/limits.h"
#include "cli/measure.h"
#include "cli/nsys_capture.h"
#include "cli/output.h"
#include "cli/own_flags.h"
#include "cli/requirements.h"
#include "cli/run_job.h"
#include "cli/saved_machine.h"
#include "cli/terminal.h"
#include "cli/trace_answer.h"
#include "experiment/prediction_history.h"
#include "experiment/prove.h"
#include "loaderscope/engine.h"
#include "loaderscope/findings.h"
#include "loaderscope/report.h"
#include "loaderscope/settings.h"
#include "machine/machine.h"
#include "record/broken_off.h"
#include "report/results.h"
#include "settings/engine_table.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

constexpr OwnFlag kRunFlags[] = {
    {"try", "", "",
     "Run what is advised briefly, in turns with the present settings, and say what it gives; the "
     "same as --prove fix."},
    {"nsys", "", "FILE",
     "Record the program behind -- with nsys into FILE.nsys-rep as well, export it, and say what "
     "the GPU waited for by nsys's own times."},
    {"rendezvous", "", "WAY",
     "Make one part of a job of several processes, which --ranks are shared out to, or bring "
     "together "
     "what was measured of a program on several hosts: env, mpi or off; as mpirun or srun has "
     "started it."},
    {"rendezvous-wait", "", "TIME",
     "How long the processes of a job wait for each other to come; default 60s."},
    {"also-json", "", "FILE",
     "Save the result there too, for a program that calls this one and then removes the file: no "
     "answer names it."},
    kMachineFlag,
    kVerbose,
};

struct RunFlags {
  explicit RunFlags(CLI::App& app) : base(app), own(app, kRunFlags) {}

  ConfigFlags base;
  OwnFlags own;
};

RunConfig given_by(RunFlags& flags) {
  RunConfig given = flags.own.read(flags.base);
  if (!flags.own.is_on("try")) return given;
  if (given.answer.prove.given)
    throw UsageError("--try: is another word for --prove fix; give one of the two");
  given.answer.prove.set(Prove::fix);
  return given;
}

Places all_places(const RunConfig& config, const OwnFlags& own) {
  Places places = places_of(config);
  if (!own.is_given("also-json")) return places;
  const std::string also = own.text("also-json");
  if (also.empty() || also == "-") own.refuse("also-json", "expected a file");
  places.push_back({"json", also});
  return places;
}

void write_results(const Places& places, const ReportStyle& style, const RunRecord& record,
                   const Analysis& analysis) {
  const AnyResult result = result_of(record, analysis);
  keep_last_result(record, result);
  write_answer(places, result, style);
}

Nanos wait_of(const OwnFlags& own) {
  const Nanos wait = own.value("rendezvous-wait", parse_duration, kUsualWait);
  if (wait < kSecond) own.refuse("rendezvous-wait", "expected a second or more, such as 60s");
  return wait;
}

// Of this process in its job, whose ranks are as many as its processes where nothing is said.
std::optional<JobPlace> place_of(const OwnFlags& own, RunConfig& given) {
  const std::string way = own.text("rendezvous");
  if (own.is_given("nsys")) {
    if (!way.empty() && way != "off")
      own.refuse("rendezvous",
                 "--nsys records one host; give it there without, and bring the results together "
                 "with 'loaderscope merge'");
    return std::nullopt;
  }
  std::optional<JobPlace> place = place_in_job(way, given, wait_of(own));
  if (place && !given.program.command.given && !given.trainer.ranks.given)
    given.trainer.ranks.set(place->processes);
  return place;
}

void remember(const Proof& proof) {
  if (proof.exact || proof.interrupted) return;
  const PredictionHistory history(source::user_cache_folder());
  for (const ProofCase& of : proof.cases) {
    if (!of.predicted || of.runs.empty()) continue;
    history.add(of.predicted->after.samples_per_s, outcome_of(proof, of).samples_per_s.mean);
  }
}

void say_second_run() {
  std::fputs(
      "loaderscope: --prove runs the command again, trains it by turns on batches that it had "
      "before, and ends it\n",
      stderr);
}

void say_more_runs(const RunConfig& config) {
  std::fprintf(stderr,
               "loaderscope: --try runs the command again, some times with each setting, and ends "
               "it each time after %lld steps\n",
               static_cast<long long>(config.measure.steps.value));
}

void add_proof(Analysis& analysis, const RunRecord& record, const MachineFacts& machine,
               const std::atomic<int>& stop_signal) {
  bool said = false;
  const auto measure_without = [&](const RunConfig& config, const Knockouts& knockouts) {
    if (config.program.command.given && !std::exchange(said, true)) say_more_runs(config);
    return measure(config, machine, {}, stop_signal, knockouts);
  };
  const auto measure_turns = [&](const RunConfig& config, const ReplayTurns& turns) {
    if (config.program.command.given) say_second_run();
    return measure(config, machine, {}, stop_signal, {}, &turns);
  };
  analysis.proof = prove(record.config.answer.prove, record, analysis, measure_without,
                         measure_turns, stop_signal);
  remember(*analysis.proof);
}

// With what was measured until a failure, that is written.
RunRecord measure_or_write_part(const RunConfig& config, const MachineFacts& machine,
                                const std::vector<std::string>& notes, const ProbedRates& rates,
                                const Places& places, const ReportStyle& style,
                                const std::atomic<int>& stop_signal) {
  try {
    RunRecord record = measure(config, machine, notes, stop_signal);
    add_known_rates(rates, record);
    return record;
  } catch (const BrokenOff& broken) {
    add_known_rates(rates, *broken.record);
    write_results(places, style, *broken.record, analysed(*broken.record, &stop_signal));
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
  write_answer({}, result_of(record, analysis), style);
}

ExitCode run(RunFlags& flags) {
  RunConfig given = given_by(flags);
  std::optional<JobPlace> place = place_of(flags.own, given);
  std::optional<NsysCapture> nsys;
  if (flags.own.is_given("nsys")) {
    nsys.emplace(flags.own.text("nsys"), given);
    given.program.command.value = nsys->command();
  }
  const ReportStyle style = standard_output_style(flags.own.is_on(kVerbose.name));
  MachineFacts machine = read_machine();
  const MachineLimits limits = limits_of(machine, given);
  machine.unusable_gpu = limits.unusable_gpu;
  std::vector<std::string> notes;
  const RunConfig config = resolve(given, limits, notes);
  check_requirements(config.answer.require.value);
  const bool answers = !place || place->number == 0;
  const Places places = answers ? all_places(config, flags.own) : Places{};
  if (answers) check_places(places, "run", flags.base.output_rules(config));
  ProbedRates rates;
  if (!is_model_engine(config.engine.value))
    rates = known_rates(flags.own.text(kMachineFlag.name), machine, config.data, notes);

  const std::atomic<int>& stop_signal = catch_stop_signals();
  if (place) {
    const JobRun job{config,
                     machine,
                     notes,
                     wait_of(flags.own),
                     [&](RunRecord& record) { add_known_rates(rates, record); },
                     [&](const RunRecord& record, const Analysis& analysis) {
                       write_results(places, style, record, analysis);
                     }};
    return run_job(job, std::move(*place), stop_signal);
  }
  RunRecord record =
      measure_or_write_part(config, machine, notes, rates, places, style, stop_signal);
  if (nsys) record.config.program.command.value = nsys->program();
  const int ended_by = take_stop_signal();
  Analysis analysis = analysed(record, &stop_signal);
  if (config.answer.prove != Prove::off) add_proof(analysis, record, machine, stop_signal);
  write_results(places, style, record, analysis);
  const bool only_json = config.answer.json.value == "-";
  if (nsys && !only_json) add_answer_of_nsys(*nsys, style, stop_signal);
  const ExitCode judgement = judge_requirements(config.answer.require.value, record, analysis);
  const int signal = ended_by != 0 ? ended_by : stop_signal.load();
  return signal != 0 ? exit_code_of_signal(signal) : judgement;
}

}  // namespace

Action declare_run(CLI::App& app) {
  const auto flags = std::make_shared<RunFlags>(app);
  return [flags] { return run(*flags); };
}

}  // namespace loaderscope
