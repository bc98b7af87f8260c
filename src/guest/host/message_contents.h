// What the processes of a job say, a struct for each kind of message, in bounds whatever the
// program's own names and objects are. All functions throw nlohmann::json::exception or ValueError
// where a message is none of its kind.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "guest/host/counter_table.h"
#include "guest/host/lock_watch.h"
#include "guest/protocol/loader_facts.h"
#include "machine/process_stat.h"

namespace loaderscope::guest {

// The first one, by which a process joins the job.
struct Hello {
  ProcessId id() const { return {pid, started}; }

  pid_t pid = 0;
  std::int64_t started = 0;  // as the host sees it
  bool is_worker = false;
  std::int32_t rank = -1;
  pid_t trainer = 0;           // of a worker: for which process it works
  std::int32_t worker = 0;     // its number
  std::int32_t iterator = -1;  // of the trainer, that a worker makes batches for
  std::int64_t program = 0;    // of the trainer: differs once the process runs another one
};
Hello parse_hello(const std::string& text);

using NamesByStage = std::map<std::string, std::string>;

struct LoaderMessage {
  std::int32_t iterator = 0;  // that is made of it
  LoaderFacts loader;
  NamesByStage code;  // of what makes samples and collates them
};
LoaderMessage parse_loader(const nlohmann::json& message);
LoaderFacts parse_loader_facts(const nlohmann::json& message);

struct Degradation {
  std::string text;
  bool of_loader = false;  // one is not measured at all
};
Degradation parse_degradation(const nlohmann::json& message);

std::string parse_refusal(const nlohmann::json& message);
std::string parse_failure(const nlohmann::json& message);  // with the worker where there is one

std::size_t parse_injected(const nlohmann::json& message);  // which of config.inject

struct NoContent {};
NoContent parse_nothing(const nlohmann::json& message);

struct ThreadsMessage {
  InterpreterState interpreter;
  std::map<std::string, std::int64_t> pools;  // by library: threads that it is set to use
};
ThreadsMessage parse_threads(const nlohmann::json& message);

// Where a process writes the Python stacks of its threads once it gets a signal.
struct StacksMessage {
  int signal = 0;
  int descriptor = -1;  // of memory that has
  std::int64_t inode = 0;
};
StacksMessage parse_stacks(const nlohmann::json& message);

// The value of a counter in one process so far, or the sum of several processes.
struct CounterValue {
  double sum = 0;
  double of = 0;                        // the number of things that it is the sum of
  std::map<std::string, double> parts;  // of the sum, by name; each is positive
};
using CounterValues = std::map<const CounterRow*, CounterValue>;
void add(CounterValues& to, const CounterValues& more);
CounterValues parse_counters(const nlohmann::json& message);  // skips names without a row

// Where a program without a loader has its batches from, as it was seen.
struct MakerMessage {
  std::string place;      // FILE.py:NAME; "": nothing was found
  bool measured = false;  // from then on
};
MakerMessage parse_maker(const nlohmann::json& message);

// What follows is about the data that a process was given. An epoch of one of its iterators:
struct DataEpoch {
  std::int32_t iterator = -1;
  std::int64_t generation = 0;
  auto operator<=>(const DataEpoch&) const = default;
};

struct OrderMessage {
  DataEpoch epoch;
  std::string hash;
  bool shuffled = false;
};
OrderMessage parse_order(const nlohmann::json& message);

struct StreamMessage {
  DataEpoch epoch;
  std::int64_t worker = 0;
  std::string hash;
};
StreamMessage parse_stream(const nlohmann::json& message);

struct StreamEndMessage {
  DataEpoch epoch;
  std::int64_t worker = 0, samples = 0;
  std::int64_t workers = 1, declared = 0;  // of the loader; samples that its data set says it has
};
StreamEndMessage parse_stream_end(const nlohmann::json& message);

struct DrawsMessage {
  DataEpoch epoch;
  std::int64_t worker = 0;
  std::map<std::string, std::string> hashes;  // by generator; kOwnGenerators: those of the data set
  std::vector<std::string> own;               // their names
};
inline constexpr const char* kOwnGenerators = "dataset";
DrawsMessage parse_draws(const nlohmann::json& message);

using DatasetSettings = std::map<std::string, std::string>;  // hashes, by name

struct SettingsMessage {
  DataEpoch epoch;
  std::optional<std::int64_t> worker;  // nothing: of the trainer
  DatasetSettings values;
};
SettingsMessage parse_settings(const nlohmann::json& message);

struct UnnamedMessage {
  DataEpoch epoch;
};
UnnamedMessage parse_unnamed(const nlohmann::json& message);

}  // namespace loaderscope::guest
