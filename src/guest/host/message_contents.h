// Contents of the messages of a job's processes, a struct for each kind, bounded in size for any
// program. All functions throw nlohmann::json::exception or ValueError if a message does not match
// its kind.
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
#include "machine/proc_file.h"

namespace loaderscope::guest {

// The first message, with which a process joins the job.
struct Hello {
  ProcessId id() const { return {pid, started}; }

  pid_t pid = 0;
  std::int64_t started = 0;  // start time, set by the host
  bool is_worker = false;
  std::int32_t rank = -1;
  pid_t trainer = 0;           // a worker's training process
  std::int32_t worker = 0;     // number of the worker
  std::int32_t iterator = -1;  // iterator of the trainer that a worker makes batches for
  // number of the trainer's program; changes if the process runs another program
  std::int64_t program = 0;
};
Hello parse_hello(const std::string& text);

using NamesByStage = std::map<std::string, std::string>;

struct LoaderMessage {
  std::int32_t iterator = 0;  // iterator of this loader
  LoaderFacts loader;
  NamesByStage code;  // functions that make samples and collate them
};
LoaderMessage parse_loader(const nlohmann::json& message);
LoaderFacts parse_loader_facts(const nlohmann::json& message);

struct Degradation {
  std::string text;
  bool loses_loader = false;  // a loader is not measured at all
};
Degradation parse_degradation(const nlohmann::json& message);

std::string parse_refusal(const nlohmann::json& message);
std::string parse_failure(const nlohmann::json& message);  // includes the worker if there is one

std::size_t parse_injected(const nlohmann::json& message);  // index in config.inject

struct NoContent {};
NoContent parse_nothing(const nlohmann::json& message);

struct ThreadsMessage {
  InterpreterState interpreter;
  std::map<std::string, std::int64_t> pools;  // configured threads of each library
};
ThreadsMessage parse_threads(const nlohmann::json& message);

// Destination of the Python stacks that a process writes when it gets a signal.
struct StacksMessage {
  int signal = 0;
  int descriptor = -1;  // descriptor of the memory
  std::int64_t inode = 0;
};
StacksMessage parse_stacks(const nlohmann::json& message);

// The value of a counter in one process so far, or the sum of several processes.
struct CounterValue {
  double sum = 0;
  double count = 0;                     // number of things that `sum` covers
  std::map<std::string, double> parts;  // positive parts of the sum, by name
};
using CounterValues = std::map<const CounterRow*, CounterValue>;
void add(CounterValues& to, const CounterValues& more);
CounterValues parse_counters(const nlohmann::json& message);  // skips names without a row

// Place that makes the batches of a program without a loader.
struct MakerMessage {
  std::string place;      // FILE.py:NAME; "": not found
  bool measured = false;  // the place is measured from now on
};
MakerMessage parse_maker(const nlohmann::json& message);

// The following messages are about the data that a process received. An epoch of one of its
// iterators:
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
  // workers of the loader; samples that its data set declares
  std::int64_t workers = 1, declared = 0;
};
StreamEndMessage parse_stream_end(const nlohmann::json& message);

struct DrawsMessage {
  DataEpoch epoch;
  std::int64_t worker = 0;
  // hash of each generator; kOwnGenerators: the data set's own
  std::map<std::string, std::string> hashes;
  std::vector<std::string> own;  // names of the data set's own generators
};
inline constexpr const char* kOwnGenerators = "dataset";
DrawsMessage parse_draws(const nlohmann::json& message);

using DatasetSettings = std::map<std::string, std::string>;  // hashes, by name

struct SettingsMessage {
  DataEpoch epoch;
  std::optional<std::int64_t> worker;  // empty: the trainer
  DatasetSettings values;
};
SettingsMessage parse_settings(const nlohmann::json& message);

struct UnnamedMessage {
  DataEpoch epoch;
};
UnnamedMessage parse_unnamed(const nlohmann::json& message);

}  // namespace loaderscope::guest
