#include "hang/python_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>

#include "guest/protocol/bounded.h"

namespace loaderscope::hang {
namespace {

constexpr std::size_t kMaxFrames = 200, kMaxThreads = 64;

bool is_ours(const std::string& file) { return file.find("loaderscope_guest/") != file.npos; }

// Returns true for files of Python and of installed packages.
bool is_of_a_library(const std::string& file) {
  constexpr std::string_view kFolders[] = {"/site-packages/", "/dist-packages/", "/lib/python"};
  return file.starts_with('<') ||
         std::any_of(std::begin(kFolders), std::end(kFolders),
                     [&](std::string_view folder) { return file.find(folder) != file.npos; });
}

// `  File "train.py", line 34 in __getitem__`
std::optional<PythonFrame> parse_frame(const std::string& line) {
  constexpr std::string_view kBegin = "  File \"", kLine = "\", line ", kFunction = " in ";
  if (!line.starts_with(kBegin)) return std::nullopt;
  const auto file_end = line.rfind(kLine);
  if (file_end == line.npos) return std::nullopt;
  const auto name_begin = line.find(kFunction, file_end + kLine.size());
  if (name_begin == line.npos) return std::nullopt;
  PythonFrame frame;
  frame.file = line.substr(kBegin.size(), file_end - kBegin.size());
  std::from_chars(line.data() + file_end + kLine.size(), line.data() + name_begin, frame.line);
  frame.function = guest::bounded_text(line.substr(name_begin + kFunction.size()));
  return frame;
}

}  // namespace

const PythonFrame* PythonThread::own() const {
  const auto found = std::find_if(frames.begin(), frames.end(), [](const PythonFrame& frame) {
    return !is_of_a_library(frame.file);
  });
  return found == frames.end() ? nullptr : &*found;
}

bool PythonThread::is_in(std::string_view part_of_file) const {
  return std::any_of(frames.begin(), frames.end(), [&](const PythonFrame& frame) {
    return frame.file.find(part_of_file) != frame.file.npos;
  });
}

bool PythonThread::is_within(std::string_view function) const {
  return std::any_of(frames.begin(), frames.end(),
                     [&](const PythonFrame& frame) { return frame.function == function; });
}

std::vector<PythonThread> parse_dump(const std::string& text) {
  std::vector<PythonThread> threads;
  bool is_asked = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Thread ") || line.starts_with("Current thread ")) {
      if (threads.size() == kMaxThreads) break;
      is_asked = line.starts_with('C');
      threads.insert(is_asked ? threads.begin() : threads.end(), PythonThread{});
    } else if (auto frame = parse_frame(line); frame && !threads.empty()) {
      auto& frames = (is_asked ? threads.front() : threads.back()).frames;
      if (!is_ours(frame->file) && frames.size() < kMaxFrames) frames.push_back(*frame);
    }
  }
  return threads;
}

std::string spelled_place(const PythonFrame& frame) {
  std::error_code gone;
  const std::filesystem::path here = std::filesystem::current_path(gone);
  const std::string below = std::filesystem::path(frame.file).lexically_relative(here).string();
  const bool is_below = !below.empty() && !below.starts_with("..");
  return fmt::format("{}:{} in {}", is_below ? below : frame.file, frame.line, frame.function);
}

}  // namespace loaderscope::hang
