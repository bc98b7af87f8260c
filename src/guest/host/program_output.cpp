#include "guest/host/program_output.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/printable.h"

namespace loaderscope::guest {
namespace {

constexpr off_t kMaxShown = 16 * 1024;  // bytes of the end

std::string read_end(int descriptor) {
  const off_t size = std::max<off_t>(0, ::lseek(descriptor, 0, SEEK_END));
  const off_t begin = std::max<off_t>(0, size - kMaxShown);
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), begin);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return text;
}

}  // namespace

ProgramOutput::ProgramOutput(std::string* text) : text_(text), descriptor_(STDERR_FILENO) {
  if (text_ == nullptr) return;
  const int file = ::memfd_create("output", MFD_CLOEXEC);
  if (file < 0) {
    text_ = nullptr;
  } else {
    descriptor_ = file;
  }
}

ProgramOutput::~ProgramOutput() {
  if (text_ == nullptr) return;
  *text_ = read_end(descriptor_);
  ::close(descriptor_);
}

void ProgramOutput::say(const std::string& sentence) const {
  const std::string line = line_start(descriptor_) + "loaderscope: " + printable(sentence) + "\n";
  if (::write(descriptor_, line.data(), line.size()) < 0) return;  // the reader is gone
}

namespace {

constexpr Nanos kFirst = 30 * kSecond;
// A user who wants a window of seconds gets an earlier warning. Importing PyTorch alone takes 10 s
// on some machines.
constexpr Nanos kEarliest = 20 * kSecond;

Nanos first_warning(const RunConfig& config) {
  return config.measure.duration.given
             ? std::clamp<Nanos>(config.measure.duration, kEarliest, kFirst)
             : kFirst;
}

// The flags that end a job after its first batch only.
std::string what_waits(const RunConfig& config) {
  if (config.measure.steps.given) return "--steps begins with the first one";
  if (config.measure.duration.given) return "--duration begins with the first one";
  return "";
}

std::string cause(int pythons, const std::string& why) {
  if (pythons == 0) return "no Python was started in it that could be measured";
  if (!why.empty()) return "no batch was seen: " + why;
  return "no loader that is known has given it a batch";
}

}  // namespace

NoLoaderWarning::NoLoaderWarning(const RunConfig& config)
    : config_(config), next_(first_warning(config)) {}

bool NoLoaderWarning::is_due(Nanos since) {
  if (since < next_) return false;
  next_ = 2 * since;
  return true;
}

std::string NoLoaderWarning::sentence(const std::string& program, Nanos since, int pythons,
                                      const std::string& why) const {
  std::string next =
      "where a function of its own gives the batches, name it: --batch-function FILE.py:NAME";
  if (pythons == 0) {
    next = "name a Python program, and leave out Python's own flags -E, -I and -S";
  }
  const std::string waits = what_waits(config_);
  return fmt::format(
      "{}: running for {}, and {}. It keeps running{}. Wait, or end it with Ctrl-C; {}", program,
      format_duration(since - since % kSecond), cause(pythons, why),
      waits.empty() ? "" : ", and " + waits, next);
}

}  // namespace loaderscope::guest
