#include "source/cache_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <vector>

#include "base/failure_text.h"
#include "base/fd.h"
#include "loaderscope/cost.h"
#include "source/extent_opener.h"
#include "source/parallel.h"

namespace loaderscope {
namespace {

using source::for_each_index;
using source::read_residency;
using source::Residency;

// Reading ahead, and others' readers, bring single pages back; more is no cold start.
constexpr double kColdShare = 0.01;
constexpr double kWarmShare = 0.99;
constexpr std::size_t kReadAtOnce = 1 << 20;

Bytes memory_of_machine() {
  struct sysinfo facts {};
  return ::sysinfo(&facts) == 0 ? static_cast<Bytes>(facts.totalram) * facts.mem_unit : 0;
}

Fd open_object(const Objects& objects, std::int64_t object) {
  thread_local std::string path;
  objects.get_path(object, path);
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd < 0 && !exhaustion_hint(errno).empty()) source::fail_to_open(path, errno);
  return fd;  // invalid if it cannot be opened: it has no cached pages then
}

Bytes file_size(int fd) {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) ? facts.st_size : 0;
}

// Dirty pages stay where they are until they are written; and pages that another CPU has just put
// into the cache may need a second call.
void evict(int fd, const CacheOptions& options) {
  for (int tried = 0; tried < 2; ++tried) {
    const auto before = read_residency(fd, options.method);
    if (!before || before->may_be_dirty) ::fdatasync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    const auto after = read_residency(fd, options.method);
    if (!after || after->resident == 0) return;
  }
}

void read_once(int fd, const SourceContext& context) {
  thread_local std::vector<std::byte> buffer(kReadAtOnce);
  while (!context.stopped() && ::read(fd, buffer.data(), buffer.size()) > 0) {
  }
}

class Preparation {
 public:
  Preparation(const Objects& objects, const CacheOptions& options, const SourceContext& context)
      : objects_(objects), options_(options), context_(context) {
    memory_ = options.memory_bytes > 0 ? options.memory_bytes : memory_of_machine();
    state_.mode = options.mode;
    state_.files = objects.objects();
    state_.files_checked = std::min(objects.objects(), options.most_checked);
    state_.method = name_of(options.method);
  }

  CacheProof run() {
    const auto kind = file_system();
    state_.file_system = kind.name;
    if (kind.remote) {
      state_.files_checked = 0;
      state_.method = "none";
      state_.sentence = source::describe_cache(state_, kind, memory_);
      return state_;
    }
    state_.resident_before = look("looking at the page cache");
    state_.resident_after = state_.resident_before;
    if (options_.mode == CacheState::cold) evict_all();
    if (options_.mode == CacheState::warm) read_all();
    if (options_.mode != CacheState::as_is) state_.resident_after = look("checking the page cache");
    if (state_.files_skipped == state_.files_checked) state_.method = "none";
    state_.proved = state_.method != "none" && is_as_wanted();
    state_.sentence = source::describe_cache(state_, kind, memory_);
    return state_;
  }

 private:
  // Returns the first file system of the paths that is not ordinary.
  source::FileSystemKind file_system() const {
    std::string path;
    objects_.get_path(0, path);
    const std::size_t slash = path.rfind('/');
    std::vector<std::string> folders = {slash == std::string::npos ? "."
                                                                   : path.substr(0, slash + 1)};
    for (std::string& root : objects_.roots()) folders.push_back(std::move(root));
    for (const std::string& folder : folders) {
      const source::FileSystemKind kind = source::find_store(folder).find_file_system(folder);
      if (kind.network || kind.memory_only || kind.remote) return kind;
    }
    return {};
  }

  // The same files each time.
  std::int64_t checked_object(std::int64_t i) const {
    if (state_.files_checked == state_.files) return i;
    return shuffled_index(i, state_.files, options_.seed, -2);
  }

  Bytes look(std::string_view doing) {
    std::atomic<Bytes> resident{0}, size{0};
    std::atomic<std::int64_t> skipped{0};
    for_each_index(state_.files_checked, doing, context_, [&](std::int64_t i) {
      const Fd fd = open_object(objects_, checked_object(i));
      const auto residency = fd < 0 ? std::nullopt : read_residency(fd, options_.method);
      if (!residency) {
        ++skipped;
        return;
      }
      resident += residency->resident;
      size += residency->size;
    });
    state_.files_skipped = skipped;
    state_.bytes_checked = size;
    return resident;
  }

  void evict_all() {
    std::atomic<Bytes> total{0};
    for_each_index(objects_.objects(), "evicting files", context_, [&](std::int64_t object) {
      const Fd fd = open_object(objects_, object);
      if (fd < 0) return;
      total += file_size(fd);
      evict(fd, options_);
    });
    state_.bytes_total = total;
  }

  void read_all() {
    std::atomic<Bytes> total{0};
    for_each_index(objects_.objects(), "warming the page cache", context_,
                   [&](std::int64_t object) {
                     const Fd fd = open_object(objects_, object);
                     if (fd < 0) return;
                     const Bytes size = file_size(fd);
                     // Reading on would only evict what was read before.
                     if ((total += size) <= memory_ && size > 0) read_once(fd, context_);
                   });
    state_.bytes_total = total;
  }

  bool is_as_wanted() const {
    const double share = state_.bytes_checked == 0 ? 1
                                                   : static_cast<double>(state_.resident_after) /
                                                         static_cast<double>(state_.bytes_checked);
    if (options_.mode == CacheState::cold) return state_.bytes_checked == 0 || share <= kColdShare;
    return options_.mode == CacheState::as_is || share >= kWarmShare;
  }

  const Objects& objects_;
  const CacheOptions& options_;
  const SourceContext& context_;
  Bytes memory_ = 0;
  CacheProof state_;
};

}  // namespace

CacheProof prepare_cache(const Objects& objects, const CacheOptions& options,
                         const SourceContext& context) {
  return Preparation(objects, options, context).run();
}

}  // namespace loaderscope

namespace loaderscope::source {
namespace {

double percent(Bytes part, Bytes whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string files_looked_at(const CacheProof& state) {
  const std::int64_t residency = state.files_checked - state.files_skipped;
  if (residency == state.files)
    return fmt::format("of {}{}", residency == 1 ? "" : "all ", plural(residency, "file"));
  const std::string some =
      fmt::format("of {} of {}", format_count(residency), plural(state.files, "file"));
  if (state.files_checked == state.files) return some + " (the others cannot be looked at)";
  return some + ", drawn at random,";
}

std::string measured(const CacheProof& state) {
  if (state.method == "none") {
    return "the state of the page cache is not known: the kernel reports it for none of the files";
  }
  if (state.bytes_checked == 0) {
    return "the state of the page cache is not known: the files that the kernel reports are "
           "empty";
  }
  const double after = percent(state.resident_after, state.bytes_checked);
  std::string text = fmt::format("{:.1f} % of the bytes {} are in the page cache at the start ({}",
                                 after, files_looked_at(state), state.method);
  if (state.mode != CacheState::as_is) {
    text += fmt::format("; {:.1f} % before", percent(state.resident_before, state.bytes_checked));
  }
  return text + ")";
}

// Returns why the state differs from the requested one.
std::string shortfall(const CacheProof& state, const FileSystemKind& kind, Bytes memory) {
  if (state.proved || state.mode == CacheState::as_is) return "";
  if (state.mode == CacheState::warm && state.bytes_total > memory) {
    return fmt::format(": not warm, the {} of the data do not fit into {} of memory",
                       format_size(static_cast<double>(state.bytes_total)),
                       format_size(static_cast<double>(memory)));
  }
  if (kind.memory_only && state.mode == CacheState::cold) {
    return fmt::format(": not cold, a {} lies in memory and nowhere else", kind.name);
  }
  if (state.method == "none") return "";
  return state.mode == CacheState::cold ? ": not cold, other programs use the files"
                                        : ": not warm, other programs need the memory";
}

}  // namespace

std::string describe_cache(const CacheProof& state, const FileSystemKind& kind, Bytes memory) {
  if (kind.remote)
    return fmt::format("the data are objects of a server ({}), which the page cache does not hold",
                       kind.name);
  std::string text = measured(state) + shortfall(state, kind, memory);
  if (kind.network) text += fmt::format("; a server's cache cannot be seen ({})", kind.name);
  return text;
}

}  // namespace loaderscope::source
