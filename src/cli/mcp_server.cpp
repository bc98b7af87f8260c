#include "cli/mcp_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/foreign_json.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"

namespace loaderscope::mcp {
namespace {

constexpr std::size_t kMaxLine = std::size_t{4} << 20;
constexpr std::size_t kMaxCalls = 16;
constexpr int kLook = 20;  // ms between looks at running commands
constexpr Nanos kLastGoodbye = 10 * kSecond, kProgress = kSecond;
constexpr std::array<std::string_view, 3> kVersions = {"2025-06-18", "2025-03-26", "2024-11-05"};

constexpr const char* kInstructions =
    "loaderscope says why a GPU waits for its data loader, and what to change. Call run with the "
    "command of the training first. Its answer names the limit and one Fix with its predicted "
    "rate. Call apply to get the Fix as a diff or as a place to edit. Edit the program, call run "
    "again, and prove the gain with compare on the two values of result_file. what_if predicts "
    "other settings without a run. explain explains a word of an answer.";

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

const Json& member_or_null(const Json& message, const char* name) {
  static const Json null;
  const auto found = message.find(name);
  return found == message.end() ? null : *found;
}

}  // namespace

Server::Server(int input, int output, std::string version, const std::atomic<int>& stop_signal)
    : input_(input),
      output_(output),
      version_(std::move(version)),
      stop_signal_(stop_signal),
      results_(std::filesystem::temp_directory_path().string(), "loaderscope-mcp-"),
      lines_(kMaxLine) {}

void Server::serve() {
  std::array<char, 1 << 16> bytes{};
  while (is_open_ && stop_signal_ == 0) {
    pollfd readable{input_, POLLIN, 0};
    const int ready = ::poll(&readable, 1, calls_.empty() ? -1 : kLook);
    if (ready > 0) {
      const ssize_t count = ::read(input_, bytes.data(), bytes.size());
      if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) break;
      if (count > 0) lines_.add(bytes.data(), static_cast<std::size_t>(count));
      while (const auto line = lines_.next()) receive_line(*line);
    }
    look_at_calls();
  }
  end_all();
}

void Server::receive_line(const LineBuffer::Line& line) {
  if (line.is_too_long)
    return send(make_error(nullptr, ErrorCode::invalid_request,
                           fmt::format("a message is longer than {} bytes", kMaxLine)));
  if (line.text.find_first_not_of(" \t\r") == std::string::npos) return;
  Json message;
  try {
    message = parse_foreign_json<Json>(line.text);
  } catch (const ValueError& error) {
    return send(make_error(nullptr, ErrorCode::parse_error, std::string(error.sentence())));
  }
  if (message.is_discarded())
    return send(make_error(nullptr, ErrorCode::parse_error, "the line is no JSON"));
  if (!message.is_array()) return receive(message, nullptr);
  if (message.empty())
    return send(make_error(nullptr, ErrorCode::invalid_request, "the batch is empty"));
  const auto batch = std::make_shared<Batch>();
  batch->open = message.size();
  for (const Json& each : message) receive(each, batch);
}

void Server::receive(const Json& message, const BatchOf& batch) {
  const auto refuse = [&](const Json& id, const char* sentence) {
    reply(make_error(id, ErrorCode::invalid_request, sentence), batch);
  };
  if (!message.is_object()) return refuse(nullptr, "the message is no object");
  const Json& id = member_or_null(message, "id");
  if (member_or_null(message, "jsonrpc") != "2.0")
    return refuse(is_id(id) ? id : Json(), "jsonrpc is not \"2.0\"");
  const Json& method = member_or_null(message, "method");
  const bool is_answer =
      method.is_null() && (message.contains("result") || message.contains("error"));
  if (is_answer) return close_one(batch);  // this server asks for nothing
  if (!method.is_string()) return refuse(is_id(id) ? id : Json(), "the method is missing");
  const Json& params = member_or_null(message, "params");
  if (!message.contains("id")) {
    receive_notification(method.get<std::string>(), params);
    return close_one(batch);
  }
  if (!is_id(id)) return refuse(nullptr, "the id is neither text nor a whole number");
  if (!params.is_null() && !params.is_object())
    return reply(make_error(id, ErrorCode::invalid_params, "params is no object"), batch);
  answer(method.get<std::string>(), id, params.is_null() ? Json::object() : params, batch);
}

void Server::receive_notification(const std::string& method, const Json& params) {
  if (method == "notifications/cancelled" && params.is_object())
    cancel(member_or_null(params, "requestId"));
}

void Server::answer(const std::string& method, const Json& id, const Json& params,
                    const BatchOf& batch) {
  if (method == "ping") return reply(make_result(id, Json::object()), batch);
  if (method == "initialize") {
    if (!member_or_null(params, "protocolVersion").is_string())
      return reply(make_error(id, ErrorCode::invalid_params, "protocolVersion is missing"), batch);
    return reply(make_result(id, initialize(params)), batch);
  }
  if (method != "tools/list" && method != "tools/call")
    return reply(
        make_error(id, ErrorCode::method_not_found, "there is no method " + shown_text(method)),
        batch);
  if (!is_initialized_)
    return reply(make_error(id, ErrorCode::invalid_request, "initialize comes first"), batch);
  if (method == "tools/call") return call_tool(id, params, batch);
  Json tools = Json::array();
  for (const Tool& tool : tool_table()) tools.push_back(describe_tool(tool));
  reply(make_result(id, {{"tools", tools}}), batch);
}

// An unknown version gets the newest one here, and the client decides.
Json Server::initialize(const Json& params) {
  is_initialized_ = true;
  const std::string asked = params.at("protocolVersion").get<std::string>();
  const bool is_known = std::find(kVersions.begin(), kVersions.end(), asked) != kVersions.end();
  return {
      {"protocolVersion", is_known ? asked : std::string(kVersions.front())},
      {"capabilities", {{"tools", {{"listChanged", false}}}}},
      {"serverInfo", {{"name", "loaderscope"}, {"title", "loaderscope"}, {"version", version_}}},
      {"instructions", kInstructions}};
}

void Server::call_tool(const Json& id, const Json& params, const BatchOf& batch) {
  const auto refuse = [&](const std::string& sentence) {
    reply(make_error(id, ErrorCode::invalid_params, sentence), batch);
  };
  const Json& name = member_or_null(params, "name");
  if (!name.is_string()) return refuse("the name of the tool is missing");
  const Tool* tool = find_tool(name.get<std::string>());
  if (tool == nullptr) return refuse("there is no tool " + shown_text(name.get<std::string>()));
  const Json& given = member_or_null(params, "arguments");
  if (!given.is_null() && !given.is_object()) return refuse("arguments is no object");
  if (calls_.size() >= kMaxCalls)
    return reply(make_error(id, ErrorCode::internal_error,
                            fmt::format("{} calls are running already", kMaxCalls)),
                 batch);
  Call call;
  call.id = id;
  call.batch = batch;
  call.tool = tool;
  call.json = fmt::format("{}/{}-{}.json", results_.path(), tool->name, ++numbers_);
  try {
    call.command = make_call(*tool, given.is_null() ? Json::object() : given, call.json);
  } catch (const UsageError& error) {
    return refuse(error.what());
  }
  const Json& meta = member_or_null(params, "_meta");
  if (meta.is_object()) call.progress_token = member_or_null(meta, "progressToken");
  calls_.push_back(std::move(call));
  start_waiting();
}

void Server::cancel(const Json& id) {
  for (Call& call : calls_) {
    if (call.id != id || call.is_cancelled) continue;
    call.is_cancelled = true;
    if (call.started) call.started->stop(kLastGoodbye);
  }
}

void Server::reply(Json message, const BatchOf& batch) {
  if (!batch) return send(message);
  batch->answers.push_back(std::move(message));
  close_one(batch);
}

// The answers of a batch without requests are empty, and nothing is sent.
void Server::close_one(const BatchOf& batch) {
  if (!batch || --batch->open > 0 || batch->answers.empty()) return;
  send(batch->answers);
}

void Server::send(const Json& message) {
  if (is_open_) is_open_ = write_message(output_, message);
}

bool Server::is_measuring() const {
  return std::any_of(calls_.begin(), calls_.end(),
                     [](const Call& call) { return call.started && call.tool->measures; });
}

// Starts the calls in their order. One measurement runs at a time.
void Server::start_waiting() {
  for (Call& call : calls_) {
    if (call.started || call.is_cancelled || (call.tool->measures && is_measuring())) continue;
    try {
      call.started = std::make_unique<StartedCall>(*call.tool, call.command, call.json);
    } catch (const RunError& error) {
      reply(make_error(call.id, ErrorCode::internal_error, error.what()), call.batch);
      call.batch = nullptr;
      call.id = nullptr;
      call.is_cancelled = true;
    }
  }
}

void Server::look_at_calls() {
  std::erase_if(calls_, [&](Call& call) {
    if (call.started && !call.started->has_ended()) {
      const Nanos elapsed = call.started->elapsed();
      if (!call.progress_token.is_null() && !call.is_cancelled && elapsed >= call.next_progress) {
        send(make_notification("notifications/progress", {{"progressToken", call.progress_token},
                                                          {"progress", elapsed / kSecond}}));
        call.next_progress = elapsed + kProgress;
      }
      return false;
    }
    if (!call.started && !call.is_cancelled) return false;
    // A cancelled request has no answer.
    if (call.is_cancelled)
      close_one(call.batch);
    else
      reply(make_result(call.id, call.started->result()), call.batch);
    return true;
  });
  start_waiting();
}

void Server::end_all() {
  is_open_ = false;
  for (Call& call : calls_)
    if (call.started) call.started->stop(kLastGoodbye);
  std::erase_if(calls_, [](const Call& call) { return !call.started; });
  while (!calls_.empty()) {
    std::erase_if(calls_, [](Call& call) { return call.started->has_ended(); });
    if (!calls_.empty()) sleep_until(monotonic_now() + kLook * kMillisecond);
  }
}

}  // namespace loaderscope::mcp
