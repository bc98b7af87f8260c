// Measures the start of a worker: a bare fork, and Python's three ways, with and without PyTorch.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "analysis/wording.h"
#include "base/quantiles.h"
#include "loaderscope/errors.h"
#include "machine/machine.h"
#include "machine/tool_run.h"
#include "probe/measurement.h"

namespace loaderscope::probe {
namespace {

// A child that ends at once. Without a copy of what only this process has there is no fork.
double seconds_of_fork() {
  const Nanos begin = monotonic_now();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  if (child < 0) throw RunError("no process can be started: raise ulimit -u or pids.max");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return seconds(monotonic_now() - begin);
}

Figure forks(const char* name) {
  constexpr int kForks = 5;
  std::vector<double> times;
  for (int i = 0; i < kForks; ++i) times.push_back(seconds_of_fork());
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  const double median = find_median(times);
  return {name, "s", median, (*most - *least) / 2 / median};
}

// Times forks with `bytes` more of private memory.
Figure forks_with(Bytes bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  std::memset(memory, 1, size);
  Figure figure = forks("fork_per_gib");
  ::munmap(memory, size);
  return figure;
}

void measure_forks(const ProbeContext& probing, Outcome& outcome) {
  constexpr Bytes kMore = Bytes{128} << 20;
  const Figure plain = outcome.figures.emplace_back(forks("fork"));
  std::string line = "processes: fork " + shown(outcome.figures.back());
  if (free_memory(probing.options.root).value_or(0) > 4 * kMore) {
    Figure more = forks_with(kMore);
    more.value = std::max(0.0, more.value - plain.value) * static_cast<double>(Bytes{1} << 30) /
                 static_cast<double>(kMore);
    outcome.figures.push_back(more);
    line += fmt::format(", and {} for each GiB of the parent's own memory",
                        shown(outcome.figures.back()));
  }
  outcome.lines.push_back(line);
}

// Prints "WAY SECONDS" for each way of starting: a worker that does nothing, or imports torch as
// each worker of a DataLoader that is not forked does.
constexpr const char* kScript = R"(
import importlib, importlib.util, multiprocessing, os, sys, time
def start(name, how, target, arguments):
    context = multiprocessing.get_context(how)
    times = []
    for _ in range(2):
        begin = time.monotonic()
        process = context.Process(target=target, args=arguments)
        process.start()
        process.join()
        times.append(time.monotonic() - begin)
    print(name + how, min(times), flush=True)
ways = [way for way in ("fork", "spawn", "forkserver") if way in multiprocessing.get_all_start_methods()]
if __name__ == "__main__":
    for way in ways:
        start("python_", way, os.getpid, ())
    if importlib.util.find_spec("torch") is None:
        sys.exit(0)
    begin = time.monotonic()
    import torch
    print("torch_import", time.monotonic() - begin, flush=True)
    for way in ways:
        start("torch_", way, importlib.import_module, ("torch",))
)";

void read_times(const std::string& printed, Outcome& outcome) {
  std::istringstream words(printed);
  std::string line;
  for (std::string name; words >> name;) {
    double value = 0;
    if (!(name.starts_with("python_") || name.starts_with("torch_")) || !(words >> value)) {
      std::getline(words, line);  // something else that was printed
      continue;
    }
    outcome.figures.push_back({name, "s", value});
  }
}

void add_time_lines(Outcome& outcome, const std::string& python) {
  std::string bare, torch;
  for (const Figure& figure : outcome.figures) {
    const bool is_torch = figure.name.starts_with("torch_");
    if (!is_torch && !figure.name.starts_with("python_")) continue;
    std::string& line = is_torch ? torch : bare;
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ",
                        figure.name.substr(figure.name.find('_') + 1), shown(figure));
  }
  if (!bare.empty()) outcome.lines.push_back(fmt::format("  {}: {}", shown_text(python), bare));
  if (!torch.empty()) outcome.lines.push_back("  with torch in it: " + torch);
}

void measure_python(const ProbeContext& probing, Outcome& outcome) {
  const std::string& python = probing.options.python;
  constexpr Nanos kMin = kSecond;
  if (probing.left() < kMin) {
    outcome.notes.push_back("starting Python's workers takes longer than --quick has");
    return;
  }
  try {
    ToolRun run{.command = {python, "-c", kScript}};
    run.patience = probing.left();
    run.stopped = [&] { return !probing.is_running(); };
    const ToolEnd end = run_tool(run);
    read_times(end.output, outcome);
    if (end.out_of_time)
      outcome.notes.push_back(
          "starting Python's workers took longer than its time; what is missing "
          "was not reached");
    else if (end.status != 0 && probing.is_running())
      outcome.notes.push_back(
          fmt::format("{}: {}", shown_text(python), shown_text(end.last_line())));
    add_time_lines(outcome, python);
  } catch (const RunError& error) {
    outcome.notes.push_back(fmt::format("no Python was started: {}", error.what()));
  }
}

}  // namespace

void measure_processes(const ProbeContext& probing, Outcome& outcome) {
  measure_forks(probing, outcome);
  if (probing.is_running()) measure_python(probing, outcome);
}

}  // namespace loaderscope::probe
