#include "cli/mcp_calls.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "base/failure_text.h"
#include "base/foreign_json.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"

namespace loaderscope::mcp {
namespace {

constexpr off_t kMaxAnswer = 64 << 10, kMaxComplaint = 4 << 10;
constexpr std::uintmax_t kMaxJson = std::uintmax_t{256} << 20;
constexpr Nanos kGoodbye = 20 * kSecond;  // time to end the program and to save the result

Fd memory_file(const char* name) {
  Fd file(::memfd_create(name, MFD_CLOEXEC));
  if (file < 0) throw RunError("memfd_create: no memory for the answer", "free some memory");
  return file;
}

std::string read_end(int file, off_t most) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0) return "";
  const off_t from = std::max<off_t>(0, facts.st_size - most);
  std::string text(static_cast<std::size_t>(facts.st_size - from), '\0');
  text.resize(read_at(file, from, std::as_writable_bytes(std::span(text))).bytes);
  return text;
}

std::vector<std::string> own_command(const std::vector<std::string>& words) {
  std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe").string()};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

// Returns null if the command saved nothing.
Json saved_json(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kMaxJson) return nullptr;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    Json saved = parse_foreign_json<Json>(text);
    return saved.is_discarded() ? Json(nullptr) : saved;
  } catch (const ValueError&) {
    return nullptr;
  }
}

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

StartedCall::StartedCall(const Tool& tool, const ToolCall& call, std::string json)
    : tool_(tool),
      json_(std::move(json)),
      patience_(call.patience),
      started_(monotonic_now()),
      out_(memory_file("answer")),
      err_(memory_file("messages")),
      child_(own_command(call.words), {}, out_, call.folder, ProcessGroup::own, err_) {}

Nanos StartedCall::elapsed() const { return monotonic_now() - started_; }

bool StartedCall::has_ended() {
  if (const std::optional<int> status = child_.status()) {
    child_.end_all();
    status_ = *status;
    return true;
  }
  if (kill_at_ == 0 && elapsed() > patience_) {
    is_out_of_time_ = true;
    stop(kGoodbye);
  }
  if (kill_at_ == 0 || monotonic_now() < kill_at_) return false;
  child_.end_all();
  status_ = SIGKILL;
  return true;
}

void StartedCall::stop(Nanos goodbye) {
  const Nanos until = monotonic_now() + goodbye;
  if (kill_at_ == 0) child_.interrupt();
  kill_at_ = kill_at_ == 0 ? until : std::min(kill_at_, until);
}

Json StartedCall::result() {
  const int code = exit_code(status_);
  std::string text = read_end(out_, kMaxAnswer);
  Json structured = {{"exit_code", code}};
  if (is_out_of_time_) {
    text += fmt::format("\nThe command was ended after {}; timeout_s sets the limit.\n",
                        format_duration(patience_));
    structured["out_of_time"] = true;
  }
  if (code != 0) text += (text.empty() ? "" : "\n") + read_end(err_, kMaxComplaint);
  if (const Json saved = saved_json(json_); tool_.summarise != nullptr && !saved.is_null()) {
    structured.update(tool_.summarise(saved));
    structured["result_file"] = json_;
  }
  return {{"content", Json::array({{{"type", "text"}, {"text", text}}})},
          {"structuredContent", structured},
          {"isError", code != 0}};
}

}  // namespace loaderscope::mcp
