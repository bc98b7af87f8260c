// Server of the Model Context Protocol on standard input and output.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/private_folder.h"
#include "cli/mcp_calls.h"

namespace loaderscope::mcp {

class Server {
 public:
  // Reads from `input` and writes to `output`, which no other code may use. `stop_signal` is 0
  // until a signal asks for the end.
  Server(int input, int output, std::string version, const std::atomic<int>& stop_signal);

  // Serves until the input or the output is closed, or a signal comes. Ends all commands.
  void serve();

 private:
  // Answers of a batch are sent as one message.
  struct Batch {
    std::size_t open = 0;
    Json answers = Json::array();
  };
  using BatchOf = std::shared_ptr<Batch>;  // null: a message of its own

  struct Call {
    Json id;
    BatchOf batch;
    const Tool* tool = nullptr;
    ToolCall command;
    std::string json;
    Json progress_token;
    Nanos next_progress = 0;
    bool is_cancelled = false;
    std::unique_ptr<StartedCall> started;  // null while it waits for another measurement
  };

  void receive_line(const LineBuffer::Line& line);
  void receive(const Json& message, const BatchOf& batch);
  void receive_notification(const std::string& method, const Json& params);
  void answer(const std::string& method, const Json& id, const Json& params, const BatchOf& batch);
  void call_tool(const Json& id, const Json& params, const BatchOf& batch);
  void cancel(const Json& id);
  Json initialize(const Json& params);

  void reply(Json message, const BatchOf& batch);
  void close_one(const BatchOf& batch);  // a request of the batch gets no answer
  void send(const Json& message);

  void start_waiting();
  void look_at_calls();
  bool is_measuring() const;
  void end_all();

  const int input_, output_;
  const std::string version_;
  const std::atomic<int>& stop_signal_;
  const PrivateFolder results_;  // results of this session
  LineBuffer lines_;
  std::vector<Call> calls_;  // sorted by their requests
  int numbers_ = 0;
  bool is_initialized_ = false, is_open_ = true;
};

}  // namespace loaderscope::mcp
