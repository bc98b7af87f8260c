// A training program without Python, for tests of a whole job: pretend_trainer KIND [BATCHES]. It
// is measured as one whose hooks report, and misbehaves as its kind says.
#include <fcntl.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>

#include "tools/pretend_member.h"

namespace {

using namespace loaderscope;
using namespace loaderscope::guest;

std::string folder() { return std::getenv("LOADERSCOPE_GUEST"); }
std::string host() { return folder() + "/host"; }

// Marks the process as seen, like sitecustomize.py.
void be_seen() { std::ofstream(folder() + "/seen/" + std::to_string(::getpid())); }

[[noreturn]] void die() {
  ::raise(SIGKILL);
  std::abort();
}

// Writes over the page like a wild pointer. The host maps it too, and finds the first page of this
// process's map.
void write_over_the_page() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:loaderscope") == line.npos) continue;
    auto* page = reinterpret_cast<void*>(std::stoull(line, nullptr, 16));
    std::memset(page, 0xFF, Page::bytes());
    return;
  }
}

struct Program {
  PretendMember trainer, worker;
  PretendTraining training{trainer, worker};

  bool join() {
    return trainer.join(host(), trainer_hello()) && worker.join(host(), worker_hello(0));
  }
  void train(int batches) {
    for (int batch = 0; batch < batches && training.train(batch); ++batch) {
    }
  }
};

int train(Program& program, int batches) {
  if (!program.join()) return 3;
  program.training.begin();
  program.train(batches);
  program.training.end();
  return 0;
}

int die_in_training(Program& program, int batches) {
  train(program, batches);
  die();
}

// The class of the data set has a name that is longer than a message.
int name_at_length(Program& program, int batches) {
  if (!program.join()) return 3;
  nlohmann::json loader = pretended_loader();
  loader["dataset"] = std::string(150'000, 'D');
  program.training.begin(loader);
  program.train(batches);
  return 0;
}

// A second worker with an impossible number.
int join_with_bad_number(Program& program, int batches) {
  PretendMember stranger;
  if (!stranger.join(host(), worker_hello(std::int64_t{1} << 40))) return 4;
  return train(program, batches);
}

int write_over(Program& program, int batches) {
  if (!program.join()) return 3;
  program.training.begin();
  program.train(batches);
  write_over_the_page();
  sleep_until(monotonic_now() + 50 * kMillisecond);
  return 0;
}

int raise_error(Program& program, int batches) {
  train(program, batches);
  program.trainer.say({{"what", "failed"}, {"text", "Traceback\nValueError: no"}, {"worker", 0}});
  return 1;
}

int refuse(Program& program, int) {
  if (!program.join()) return 3;
  program.trainer.say({{"what", "refused"}, {"text", "workers: not in this program"}});
  return 1;
}

// A batch that never comes.
int wait_for_ever(Program& program, int batches) {
  if (!program.join()) return 3;
  program.training.begin();
  program.train(batches);
  program.trainer.push_event(GuestEventKind::ask, -1, monotonic_now());
  for (;;) ::pause();
}

// For a batch that its worker has begun, which is a process of its own and ends.
int wait_for_the_dead(Program& program, int) {
  if (!program.trainer.join(host(), trainer_hello())) return 3;
  program.training.begin();
  const pid_t trainer = ::getpid();
  const pid_t worker = ::fork();
  if (worker == 0) {
    if (!program.worker.join(host(), worker_hello(0, trainer))) ::_exit(3);
    program.worker.say({{"what", "stacks"}, {"signal", SIGRTMAX}, {"descriptor", 0}, {"inode", 0}});
    program.worker.push_event(GuestEventKind::begun, 0, monotonic_now());
    ::_exit(0);
  }
  ::waitpid(worker, nullptr, 0);
  program.trainer.push_event(GuestEventKind::dispatched, 0, monotonic_now());
  program.trainer.push_event(GuestEventKind::ask, -1, monotonic_now());
  for (;;) ::pause();
}

// A worker that continues after the end of its trainer, until it notices the end.
int leave_a_worker(Program& program, int batches) {
  const pid_t trainer = ::getpid();
  if (!program.join()) return 3;
  program.training.begin();
  program.train(batches);
  int joined[2];
  if (::pipe(joined) != 0) return 5;
  if (::fork() != 0) {
    ::close(joined[1]);
    char end = 0;
    return static_cast<int>(::read(joined[0], &end, 1));  // 0, once the worker has joined
  }
  program.trainer.leave();
  program.worker.leave();
  PretendMember orphan;
  if (!orphan.join(host(), worker_hello(1, trainer))) return 3;
  ::close(joined[1]);
  sleep_until(monotonic_now() + 300 * kMillisecond);
  orphan.say({{"what", "degraded"}, {"text", "last words"}});
  return 0;
}

int take_nothing(Program& program, int) { return program.join() ? 0 : 3; }

const std::map<std::string, std::function<int(Program&, int)>> kKinds = {
    {"trains", train},
    {"dies", die_in_training},
    {"names-at-length", name_at_length},
    {"joins-with-bad-number", join_with_bad_number},
    {"writes-over-its-page", write_over},
    {"raises", raise_error},
    {"refuses", refuse},
    {"waits-for-ever", wait_for_ever},
    {"waits-for-the-dead", wait_for_the_dead},
    {"leaves-a-worker", leave_a_worker},
    {"takes-nothing", take_nothing},
};

}  // namespace

int main(int count, char** words) {
  const auto kind = count > 1 ? kKinds.find(words[1]) : kKinds.end();
  if (kind == kKinds.end()) return 64;
  be_seen();
  Program program;
  return kind->second(program, count > 2 ? std::atoi(words[2]) : 0);
}
