#include "experiment/prediction_history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/fd.h"
#include "base/private_folder.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxBytes = 16 << 10;  // beyond it the older half goes
constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;

// The file, locked; nothing when it is not a file of this user.
std::optional<Fd> opened(const std::string& path, int flags, int lock) {
  if (path.empty()) return std::nullopt;
  Fd fd(::open(path.c_str(), flags, 0600));
  struct stat facts {};
  if (fd < 0 || ::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_uid != ::geteuid() || ::flock(fd, lock) != 0) {
    return std::nullopt;
  }
  return fd;
}

// The last `most` bytes, from the beginning of a line on.
std::string read_tail(int fd, std::size_t most) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return "";
  const auto size = static_cast<std::size_t>(facts.st_size);
  const std::size_t skipped = size > most ? size - most : 0;
  std::string text(size - skipped, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), static_cast<off_t>(skipped));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (skipped > 0) text.erase(0, std::min(text.size(), text.find('\n') + 1));
  return text;
}

constexpr std::size_t kQuoted = 20;
constexpr double kMaxError = 1e9;  // beyond it a line was not written by this program

// "predicted measured"
std::optional<double> parse_error(std::string_view line) {
  std::array<double, 2> values{};
  const char* at = line.data();
  const char* const end = line.data() + line.size();
  for (double& value : values) {
    while (at != end && *at == ' ') ++at;
    const auto [next, failure] = std::from_chars(at, end, value);
    if (failure != std::errc() || !std::isfinite(value) || value <= 0) return std::nullopt;
    at = next;
  }
  if (at != end) return std::nullopt;
  const double error = std::abs(values[0] / values[1] - 1);
  return error < kMaxError ? std::optional(error) : std::nullopt;
}

}  // namespace

HistoryFile::HistoryFile(const std::string& folder, const std::string& name) : folder_(folder) {
  if (!folder_.empty()) file_ = folder_ + "/" + name;
}

void HistoryFile::add(const std::string& line) const {
  if (file_.empty()) return;
  make_private_folders(folder_);
  const auto fd = opened(file_, kFlags | O_CREAT, LOCK_EX);
  if (!fd) return;
  struct stat facts {};
  if (::fstat(*fd, &facts) != 0) return;
  std::string text = line + "\n";
  off_t at = facts.st_size;
  if (static_cast<std::size_t>(at) > kMaxBytes) {
    text = read_tail(*fd, kMaxBytes / 2) + text;
    at = 0;
    if (::ftruncate(*fd, 0) != 0) return;
  }
  // A line that is cut short is one that cannot be read.
  static_cast<void>(::pwrite(*fd, text.data(), text.size(), at) < 0);
}

std::string HistoryFile::text() const {
  const auto fd = opened(file_, kFlags, LOCK_SH);
  return fd ? read_tail(*fd, kMaxBytes) : "";
}

void for_each_line(std::string_view text, const std::function<void(std::string_view line)>& take) {
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    take(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

PredictionHistory::PredictionHistory(const std::string& folder) : lines_(folder, "predictions") {}

void PredictionHistory::add(double predicted, double measured) const {
  const std::string line = fmt::format("{:.6g} {:.6g}", predicted, measured);
  if (parse_error(line)) lines_.add(line);
}

PastPredictions PredictionHistory::summary() const { return summarise_predictions(lines_.text()); }

PastPredictions summarise_predictions(std::string_view lines) {
  std::vector<double> errors;
  for_each_line(lines, [&](std::string_view line) {
    if (const auto error = parse_error(line)) errors.push_back(*error);
  });
  if (errors.size() > kQuoted) errors.erase(errors.begin(), errors.end() - kQuoted);
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  return {static_cast<std::int64_t>(n), (errors[(n - 1) / 2] + errors[n / 2]) / 2, errors.back()};
}

void record_prediction_errors(const Tune& tune, const PredictionHistory& history) {
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    const auto& predicted = tune.candidates[i].predicted;
    const std::vector<CaseRun>& runs = tune.experiment.cases[i].runs;
    if (!predicted || runs.empty() || runs.front().round == 0) continue;
    double sum = 0;
    for (const CaseRun& run : runs) sum += run.samples_per_s.mean;
    history.add(predicted->samples_per_s, sum / static_cast<double>(runs.size()));
  }
}

}  // namespace loaderscope
