#include "source/registry.h"

#include <algorithm>

#include "source/file_source.h"
#include "source/npy.h"
#include "source/readers.h"
#include "source/store.h"
#include "source/tar.h"
#include "source/tokens.h"

namespace loaderscope {
namespace {

using source::KernelAccess;
using Refusal = std::optional<std::string> (KernelAccess::*)() const;

template <Refusal refusal>
std::optional<std::string> refused_here() {
  const auto reason = (source::this_kernel().*refusal)();
  return reason ? std::optional(*reason + ".") : std::nullopt;
}

template <Refusal refusal>
AccessRow needs(AccessRow row) {
  row.refusal = refusal;
  row.row.unavailable = refused_here<refusal>;
  return row;
}

AccessRow row(FileAccess access, bool direct, bool looks_ahead,
              std::unique_ptr<SampleReader> (*make)(const source::Access&)) {
  const auto& words = Words<FileAccess>::table();
  const auto word =
      std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.value == access; });
  return {{word->name, word->help}, access, nullptr, direct, looks_ahead, make};
}

AccessRow of_servers(AccessRow row) {
  row.remote = true;
  row.row.unavailable = source::why_no_servers;
  return row;
}

constexpr std::string_view kTarWords[] = {"member", "stream", "shuffle"};
constexpr std::string_view kNpyWords[] = {"window", "stride"};
constexpr std::string_view kTokenWords[] = {"window", "stride", "type"};

// Of a function that opens sources of one kind.
template <auto open>
std::unique_ptr<Source> opened(const SourceOptions& options, const SourceContext& context) {
  return open(options, context);
}

}  // namespace

std::span<const SourceRow> source_table() {
  static const SourceRow rows[] = {
      {{"synthetic", "No data: every stage takes what --cost declares for it."}},
      {.row = {"files",
               "Image files: a folder per class, one flat folder, or a manifest (--index)."},
       .form = SampleForm::image,
       .open = opened<open_files>,
       .takes_list = true},
      {.row =
           {"tar",
            "Shards of images as WebDataset has them; ?member=EXT: what of a sample is decoded; "
            "?stream=1&shuffle=N: no index, read in order through a buffer of N samples, also of "
            ".tar.gz and .tar.zst."},
       .form = SampleForm::image,
       .open = opened<open_tar>,
       .suffixes = source::kTarSuffixes,
       .words = kTarWords,
       .stream_word = "stream",
       .is_packed = true},
      {.row = {"npy",
               "NumPy arrays (.npy), a sample a row; ?window=N: N rows, every &stride=N rows."},
       .form = SampleForm::array,
       .open = opened<open_npy>,
       .suffixes = source::kNpySuffixes,
       .words = kNpyWords,
       .is_packed = true},
      {.row = {"tokens",
               "Tokens of text: a raw .bin as of nanoGPT, &type=u16, or Megatron's with its .idx; "
               "?window=N (1024) are a sample, every &stride=N."},
       .form = SampleForm::array,
       .open = opened<open_tokens>,
       .suffixes = source::kTokenSuffixes,
       .words = kTokenWords,
       .is_packed = true},
  };
  return rows;
}

std::string_view SourceRow::suffix_of(std::string_view path) const {
  const auto found = std::find_if(suffixes.begin(), suffixes.end(),
                                  [&](std::string_view suffix) { return path.ends_with(suffix); });
  return found == suffixes.end() ? std::string_view() : *found;
}

const SourceRow& source_row(std::string_view name) {
  for (const SourceRow& row : source_table()) {
    if (row.row.name == name) return row;
  }
  return source_table().front();
}

std::span<const AccessRow> access_table() {
  static const AccessRow rows[] = {
      row(FileAccess::pread, false, false, source::make_pread_reader),
      needs<&KernelAccess::mapping_refusal>(
          row(FileAccess::mmap, false, false, source::make_mmap_reader)),
      row(FileAccess::direct, true, false, source::make_direct_reader),
      needs<&KernelAccess::ring_refusal>(
          row(FileAccess::io_uring, false, true, source::make_ring_reader)),
      needs<&KernelAccess::ring_refusal>(
          row(FileAccess::io_uring_direct, true, true, source::make_direct_ring_reader)),
      of_servers(row(FileAccess::http, false, true, source::make_http_reader)),
  };
  return rows;
}

const AccessRow& access_row(FileAccess access) {
  for (const AccessRow& row : access_table()) {
    if (row.access == access) return row;
  }
  return access_table().front();
}

}  // namespace loaderscope
