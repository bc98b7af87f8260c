#include "source/cache_sentence.h"

#include <fmt/format.h>

namespace loaderscope::source {
namespace {

double percent(Bytes part, Bytes whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string files_looked_at(const CacheProof& state) {
  const std::int64_t told = state.files_checked - state.files_skipped;
  if (told == state.files)
    return fmt::format("of {}{}", told == 1 ? "" : "all ", plural(told, "file"));
  const std::string some =
      fmt::format("of {} of {}", format_count(told), plural(state.files, "file"));
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
  if (kind.in_memory && state.mode == CacheState::cold) {
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
