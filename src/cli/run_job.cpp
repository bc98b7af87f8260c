#include "cli/run_job.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cli/analyse_run.h"
#include "cli/measure.h"
#include "cli/requirements.h"
#include "job/interrupt.h"
#include "job/job_of_processes.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"
#include "record/partial_run.h"
#include "rendezvous/process_address.h"
#include "rendezvous/rendezvous_methods.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

const char* variable(const char* name) { return std::getenv(name); }

// "": it brings together what is asked for.
std::string why_not(const RendezvousMethod& way, const RunConfig& given) {
  if (given.program.command.given)
    return way.leaves_mpi_alone
               ? ""
               : "the program may use MPI, which starts only once in a process of mpirun; give "
                 "--rendezvous env, and the host of process 0 (mpirun -x MASTER_ADDR=HOST)";
  if (!given.engine.given || engine_kind(given.engine.value) == EngineKind::native) return "";
  return fmt::format(
      "engine {} is run by one process; leave it out, and bring records of several together with "
      "'loaderscope merge'",
      given.engine.value);
}

void say_job(const ProcessAddress& place, const std::string& way) {
  std::fprintf(stderr,
               "loaderscope: %lld processes of one launcher make one job (--rendezvous %s, or "
               "off for one job each)\n",
               static_cast<long long>(place.processes), way.c_str());
}

ExitCode answer_for(const JobRun& job, JobAnswer answer, const std::atomic<int>& stop_signal,
                    int ended_by) {
  RunRecord& record = answer.record;
  job.complete(record);
  if (!answer.failure.empty()) record.notes.push_back(answer.failure);
  Analysis analysis = analysed(record, &stop_signal);
  const int signal = ended_by != 0 ? ended_by : stop_signal.load();
  if (signal == 0 && !answer.failure.empty()) {
    job.write_part(record, analysis, answer.failure);
    return exit_code_of_failure();
  }
  job.compare(record, analysis);
  const ExitCode judgement = judge_and_answer(job.config.answer.require.value, record, analysis,
                                              [&] { job.write(record, analysis); });
  if (signal != 0) return exit_code_of_signal(signal);
  return record.interrupted ? ExitCode::interrupted : judgement;  // interrupted at another process
}

ExitCode run_ranks(const JobRun& job, ProcessAddress place, const std::atomic<int>& stop_signal) {
  JobOfProcesses processes(job.config, job.machine, std::move(place), job.wait, stop_signal);
  std::optional<JobAnswer> answer = processes.run([&](const RunConfig& part) {
    return measure(part, job.machine, job.notes, stop_signal, {}, nullptr, &processes,
                   &job.exports);
  });
  if (answer) return answer_for(job, std::move(*answer), stop_signal, take_stop_signal());
  return stop_signal != 0 ? exit_code_of_signal(stop_signal) : ExitCode::ok;
}

// Keeps the outcome of this process's program. The first process merges the records.
ExitCode run_program(const JobRun& job, ProcessAddress place, const std::atomic<int>& stop_signal) {
  JobOfPrograms programs(job.config, job.machine, std::move(place), job.wait, stop_signal);
  JobAnswer own;
  try {
    own.record = measure(job.config, job.machine, job.notes, stop_signal, {}, nullptr, nullptr,
                         &job.exports);
  } catch (PartialRunError& broken) {
    own = {std::move(*broken.record), broken.what()};
  } catch (const std::exception& error) {
    programs.give_up(error.what());
    throw;
  }
  const int ended_by = take_stop_signal();
  const std::string failure = own.failure;
  if (std::optional<JobAnswer> answer = programs.bring_together(std::move(own), stop_signal))
    return answer_for(job, std::move(*answer), stop_signal, ended_by);
  if (ended_by != 0) return exit_code_of_signal(ended_by);
  if (!failure.empty()) throw RunError(failure);
  return ExitCode::ok;
}

}  // namespace

std::optional<ProcessAddress> place_in_job(const std::string& way, const RunConfig& given,
                                           Nanos wait) {
  const bool is_said = !way.empty();
  const std::string name(is_said ? way : way_of_launcher(variable));
  try {
    const auto& chosen = find_row<RendezvousMethod>(name, ways_to_meet());
    if (chosen.find == nullptr) return std::nullopt;
    if (const std::string why = why_not(chosen, given); !why.empty()) {
      if (!is_said) return std::nullopt;
      throw ValueError(why);
    }
    ProcessAddress place = chosen.find(variable, wait);
    if (place.processes > 1 && place.token.empty())
      place.token = job_token(variable, source::user_cache_folder());
    if (!is_said && place.number == 0) say_job(place, name);
    return place;
  } catch (const ValueError& error) {
    throw add_place<UsageError>(fmt::format("--rendezvous {}: ", shown_text(name)), error);
  }
}

ExitCode run_job(const JobRun& job, ProcessAddress place, const std::atomic<int>& stop_signal) {
  try {
    return job.config.program.command.given ? run_program(job, std::move(place), stop_signal)
                                            : run_ranks(job, std::move(place), stop_signal);
  } catch (const RunError&) {
    if (stop_signal != 0) return exit_code_of_signal(stop_signal);
    throw;
  }
}

}  // namespace loaderscope
