#include "guest/host/message_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "guest/protocol/bounded.h"
#include "guest/protocol/message_kinds.h"
#include "guest/protocol/page.h"

namespace loaderscope::guest {
namespace {

using nlohmann::json;

constexpr Range kAnyId = {0, std::numeric_limits<std::int32_t>::max()};
constexpr Range kIterators = {-1, kMaxIterators - 1};
constexpr Range kWorkers = {0, kMaxWorkers - 1};
constexpr Range kBatches = {0, std::int64_t{1} << 28};  // at once: in a queue, or samples in one
constexpr Range kSamples = {0, std::int64_t{1} << 40};  // samples of a data set
constexpr std::size_t kMaxNames = 256;                  // names in a data set

std::int32_t read_iterator(const json& message, std::int32_t otherwise) {
  return static_cast<std::int32_t>(read_number(message, "iterator", kIterators, otherwise));
}

std::int64_t read_worker(const json& message) {
  return read_clamped(message, "worker", kWorkers, 0);
}

DataEpoch read_epoch(const json& message) {
  return {read_iterator(message, -1), message.value("generation", std::int64_t{0})};
}

// The last line of an exception's text, which is its own sentence.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const auto begin = text.rfind('\n');
  return begin == text.npos ? text : text.substr(begin + 1);
}

std::vector<std::string> read_names(const json& message, const char* field) {
  constexpr std::size_t kMax = 16;
  std::vector<std::string> names;
  for (const json& name : message.value(field, json::array()))
    if (names.size() < kMax) names.push_back(bounded_text(name.get<std::string>()));
  return names;
}

}  // namespace

Hello parse_hello(const std::string& text) {
  const json message = parse_message(text);
  const auto id = [&](const char* name, std::int64_t least, std::int64_t otherwise) {
    return static_cast<std::int32_t>(read_number(message, name, {least, kAnyId.most}, otherwise));
  };
  Hello hello;
  hello.pid = id("pid", 1, 0);
  hello.is_worker = message.value("role", "") == kWorkerRole;
  hello.trainer = id("trainer", hello.is_worker ? 1 : 0, 0);
  hello.rank = id("rank", -1, -1);
  hello.worker = static_cast<std::int32_t>(read_number(message, "worker", kWorkers, 0));
  hello.iterator = read_iterator(message, -1);
  hello.program = read_number(message, "program", {0, std::numeric_limits<std::int64_t>::max()}, 0);
  return hello;
}

namespace {

// Paths are not cut, because a part of a path names another file.
LoaderCall parse_loader_call(const json& message) {
  constexpr std::size_t kMaxPath = 4096;
  LoaderCall call;
  if (!message.is_object()) return call;
  const auto path = [&](const char* field) {
    const std::string text = message.value(field, "");
    return text.size() <= kMaxPath ? text : "";
  };
  call.file = path("file");
  call.python = path("python");
  call.line = read_clamped(message, "line", {0, std::numeric_limits<std::int32_t>::max()}, 0);
  call.made = bounded_text(message.value("made", ""));
  call.called = bounded_text(message.value("called", ""));
  return call;
}

}  // namespace

LoaderMessage parse_loader(const json& message) {
  LoaderMessage parsed;
  parsed.iterator = read_iterator(message, 0);
  parsed.loader = parse_loader_facts(message);
  const json code = message.value("code", json::object());
  for (const auto& [stage, name] : code.items())
    parsed.code[bounded_text(stage)] = bounded_text(name.get<std::string>());
  return parsed;
}

// Numbers come from objects of the program's own, which may say anything.
LoaderFacts parse_loader_facts(const json& message) {
  const auto count = [&](const char* name, const Range& range) {
    return std::clamp(message.at(name).get<std::int64_t>(), range.least, range.most);
  };
  const auto name = [&](const char* field) {
    return bounded_text(message.at(field).get<std::string>());
  };
  LoaderFacts facts;
  facts.number = static_cast<std::int32_t>(count("loader", kAnyId));
  facts.num_workers = count("num_workers", {0, kMaxWorkers});
  facts.prefetch_factor = count("prefetch_factor", kBatches);
  facts.batch_size = count("batch_size", kBatches);
  facts.samples = count("samples", kSamples);
  facts.batches = count("batches", kSamples);
  facts.shards = message.value("shards", std::int64_t{0});
  message.at("is_opaque").get_to(facts.is_opaque);
  message.at("pin_memory").get_to(facts.pin_memory);
  message.at("persistent_workers").get_to(facts.persistent_workers);
  message.at("in_order").get_to(facts.in_order);
  message.at("drop_last").get_to(facts.drop_last);
  message.at("shuffle").get_to(facts.shuffle);
  message.at("iterable").get_to(facts.iterable);
  facts.mp_context = name("mp_context");
  facts.dataset = name("dataset");
  facts.sampler = name("sampler");
  facts.place = name("place");
  facts.call = parse_loader_call(message.value("call", json()));
  facts.made_by = read_names(message, "made_by");
  facts.data_of = read_names(message, "data_of");
  return facts;
}

Degradation parse_degradation(const json& message) {
  return {read_text(message, "text", kMaxSentence), message.value("loader", false)};
}

std::string parse_refusal(const json& message) { return read_text(message, "text", kMaxSentence); }

std::string parse_failure(const json& message) {
  const std::string text = bounded_text(last_line(message.value("text", "")), kMaxSentence);
  const auto worker = message.find("worker");
  if (worker == message.end() || !worker->is_number_integer()) return text;
  return fmt::format("worker {}: {}", worker->get<std::int64_t>(), text);
}

std::size_t parse_injected(const json& message) {
  return static_cast<std::size_t>(message.value("number", std::int64_t{0}));
}

NoContent parse_nothing(const json&) { return {}; }

// One of those that a program is free to use.
StacksMessage parse_stacks(const json& message) {
  const Range signals = {SIGRTMIN, SIGRTMAX};
  return {static_cast<int>(read_number(message, "signal", signals, 0)),
          static_cast<int>(read_number(message, "descriptor", kAnyId, -1)),
          message.value("inode", std::int64_t{0})};
}

ThreadsMessage parse_threads(const json& message) {
  const auto runtime = message.at("runtime").get<std::pair<std::int64_t, std::int64_t>>();
  ThreadsMessage parsed;
  parsed.interpreter = {static_cast<std::uint64_t>(runtime.first),
                        static_cast<std::uint64_t>(runtime.second)};
  message.at("pools").get_to(parsed.pools);
  return parsed;
}

void add(CounterValues& to, const CounterValues& more) {
  for (const auto& [row, value] : more) {
    CounterValue& sum = to[row];
    sum.sum += value.sum;
    sum.count += value.count;
    if (row->parts == CounterParts::names && !sum.parts.empty()) continue;
    for (const auto& [name, part] : value.parts)
      if (sum.parts.size() < kMaxNames || sum.parts.contains(name)) sum.parts[name] += part;
  }
}

// NAME: [sum, count] or NAME: [sum, count, {PART: value}].
CounterValues parse_counters(const json& message) {
  constexpr double kMax = static_cast<double>(kSamples.most) * 1e6;
  const auto number = [&](const json& field, double least = 0) {
    return std::clamp(field.get<double>(), least, kMax);
  };
  CounterValues values;
  for (const auto& [name, reported] : message.at("values").get_ref<const json::object_t&>()) {
    const CounterRow* row = find_counter(name);
    if (row == nullptr) continue;
    CounterValue& value = values[row];
    value.sum = number(reported.at(0), row->is_signed ? -kMax : 0);
    value.count = number(reported.at(1));
    if (row->parts == CounterParts::none || reported.size() < 3) continue;
    for (const auto& [part, of_part] : reported.at(2).get_ref<const json::object_t&>()) {
      if (value.parts.size() < kMaxNames && number(of_part) > 0)
        value.parts[bounded_text(part)] += number(of_part);
    }
  }
  return values;
}

MakerMessage parse_maker(const json& message) {
  return {read_text(message, "place", kMaxSentence), message.value("measured", false)};
}

OrderMessage parse_order(const json& message) {
  return {read_epoch(message), read_text(message, "hash"), message.value("shuffled", false)};
}

StreamMessage parse_stream(const json& message) {
  return {read_epoch(message), read_worker(message), read_text(message, "hash")};
}

StreamEndMessage parse_stream_end(const json& message) {
  return {read_epoch(message), read_worker(message), read_clamped(message, "samples", kSamples, 0),
          read_clamped(message, "workers", {0, kMaxWorkers}, 1),
          read_clamped(message, "declared", kSamples, 0)};
}

DrawsMessage parse_draws(const json& message) {
  DrawsMessage parsed{read_epoch(message), read_worker(message), {}, {}};
  for (const char* generator : {"python", "numpy", "torch", kOwnGenerators}) {
    if (message.contains(generator)) parsed.hashes[generator] = read_text(message, generator);
  }
  for (const auto& own : message.value("own", std::vector<std::string>{})) {
    if (parsed.own.size() < kMaxNames) parsed.own.push_back(bounded_text(own));
  }
  return parsed;
}

SettingsMessage parse_settings(const json& message) {
  SettingsMessage parsed{read_epoch(message), std::nullopt, {}};
  if (message.contains("worker")) parsed.worker = read_worker(message);
  for (const auto& [name, value] : message.value("values", DatasetSettings{})) {
    if (parsed.values.size() < kMaxNames) parsed.values[bounded_text(name)] = bounded_text(value);
  }
  return parsed;
}

UnnamedMessage parse_unnamed(const json& message) { return {read_epoch(message)}; }

}  // namespace loaderscope::guest
