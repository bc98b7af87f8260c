#include "source/registry.h"

#include <algorithm>

#include "base/has_ffmpeg.h"
#include "built_with.h"
#include "source/arrow.h"
#include "source/file_source.h"
#include "source/hdf5.h"
#include "source/items.h"
#include "source/lmdb.h"
#include "source/npy.h"
#include "source/parquet.h"
#include "source/readers.h"
#include "source/store.h"
#include "source/tar.h"
#include "source/tfrecord.h"
#include "source/tokens.h"
#include "source/video.h"

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

AccessRow row(FileAccess access, bool direct, bool readahead_limit,
              std::unique_ptr<SampleReader> (*make)(const source::Access&)) {
  const auto& words = Words<FileAccess>::table();
  const auto word =
      std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.value == access; });
  return {{word->name, word->help}, access, nullptr, direct, readahead_limit, make};
}

AccessRow of_servers(AccessRow row) {
  row.remote = true;
  row.row.unavailable = source::why_no_servers;
  return row;
}

constexpr std::string_view kTarWords[] = {"member", "label", "stream", "shuffle"};
constexpr std::string_view kNpyWords[] = {"length", "stride", "deliver"};
constexpr std::string_view kItemWords[] = {"column", "label", "open"};
constexpr std::string_view kTfrecordWords[] = {"value", "feature", "label"};
constexpr std::string_view kParquetWords[] = {"column", "label"};
constexpr std::string_view kArrowWords[] = {"column", "label", "indices"};
constexpr std::string_view kHdf5Words[] = {"dataset", "length", "stride", "chunk-cache"};
constexpr std::string_view kLmdbWords[] = {"key", "value"};
constexpr std::string_view kVideoWords[] = {"every"};
constexpr std::string_view kTokenWords[] = {"length", "stride", "type", "deliver", "pad"};

// Adapter of a function that opens sources of one kind.
template <auto open>
std::unique_ptr<Source> opened(const SourceOptions& options, const SourceContext& context) {
  return open(options, context);
}

std::int32_t label_of_file(const Source& source, std::int64_t sample) {
  return static_cast<const source::FileSource&>(source).label(sample);
}

}  // namespace

std::span<const SourceRow> source_table() {
  static const SourceRow rows[] = {
      {{"synthetic", "No data: every stage takes what --cost declares for it."}},
      {.row = {"files",
               "Read image files: a folder per class, one flat folder, or a manifest (--index)."},
       .form = SampleForm::image,
       .open = opened<open_files>,
       .takes_list = true,
       .label = label_of_file},
      {.row = {"tar",
               "Read shards of images as WebDataset has them. ?member=EXT selects what is decoded. "
               "?stream=1&shuffle=N reads in order, also .tar.gz, .tar.zst and .tar.lz4."},
       .form = SampleForm::image,
       .open = opened<open_tar>,
       .suffixes = source::kTarSuffixes,
       .words = kTarWords,
       .stream_word = "stream",
       .is_packed = true,
       .knows_classes = true},
      {.row = {"npy",
               "NumPy arrays (.npy), a sample a row; ?length=N: N rows, every &stride=N rows."},
       .form = SampleForm::array,
       .open = opened<open_npy>,
       .suffixes = source::kNpySuffixes,
       .words = kNpyWords,
       .is_packed = true},
      {.row =
           {"tokens",
            "Read tokens of text: nanoGPT's raw .bin (&type=u16), or Megatron's with its .idx. "
            "?length=N (1024) is a sample, &stride=N the distance. Also &deliver=i64 and &pad=N."},
       .form = SampleForm::array,
       .open = opened<open_tokens>,
       .suffixes = source::kTokenSuffixes,
       .words = kTokenWords,
       .is_packed = true},
      {.row = {"mds",
               "Read mosaicml-streaming's shards, a folder with index.json. ?column=NAME has the "
               "images. ?open=sample opens a shard for each sample, as the library does."},
       .form = SampleForm::image,
       .open = opened<open_mds>,
       .words = kItemWords,
       .is_packed = true,
       .knows_classes = true},
      {.row = {"litdata",
               "Read LitData's chunks, a folder with index.json. ?column=NAME has the images. "
               "?open=sample opens a chunk for each sample."},
       .form = SampleForm::image,
       .open = opened<open_litdata>,
       .words = kItemWords,
       .is_packed = true,
       .knows_classes = true},
      {.row = {"tfrecord",
               "Read TFRecord files of tf.train.Example. ?feature=NAME has the image. ?value=raw "
               "means that each record is an image.",
               source::no_crc32c},
       .form = SampleForm::image,
       .open = opened<open_tfrecord>,
       .suffixes = source::kTfrecordSuffixes,
       .words = kTfrecordWords,
       .is_packed = true,
       .knows_classes = true},
      {.row = {"parquet",
               "Read Parquet files of images, a sample per row, as Hugging Face stores them. "
               "?column=NAME has the images. Each row group is read as a whole."},
       .form = SampleForm::image,
       .open = opened<open_parquet>,
       .suffixes = source::kParquetSuffixes,
       .words = kParquetWords,
       .is_packed = true,
       .smaller_pieces = "write smaller row groups: loaderscope data pack {} parquet:smaller "
                         "--row-group 1, or row_group_size=1 in Python",
       .knows_classes = true},
      {.row = {"arrow",
               "Read Arrow files of images: the cache of datasets, or save_to_disk(). A sample is "
               "a row. ?column=NAME has the images. &indices=FILE has the order.",
               reason_missing<built_with::kFlatbuffers>},
       .form = SampleForm::image,
       .open = if_built(built_with::kFlatbuffers, open_arrow),
       .suffixes = source::kArrowSuffixes,
       .words = kArrowWords,
       .is_packed = true,
       .smaller_pieces = "write the values without compression, so that each is read alone: "
                         "save_to_disk() of datasets, or IpcWriteOptions(compression=None)",
       .knows_classes = true},
      {.row = {"hdf5",
               "Read arrays in HDF5 files, with its library, which runs one thread at a time. "
               "?dataset=NAME has a sample per row. Also &length=N, &stride=N, &chunk-cache=SIZE.",
               reason_missing<built_with::kHdf5>},
       .form = SampleForm::array,
       .open = if_built(built_with::kHdf5, open_hdf5),
       .suffixes = source::kHdf5Suffixes,
       .words = kHdf5Words,
       .is_packed = true,
       .smaller_pieces =
           "write chunks of one row: h5repack -l NAME:CHUNK=1x..., with the other axes whole"},
      {.row = {"lmdb",
               "Read LMDB files, a sample per key: an image, or Caffe's Datum (&value=raw, datum). "
               "?key=image-%09d selects keys of that form.",
               reason_missing<built_with::kLmdb>},
       .form = SampleForm::image,
       .open = if_built(built_with::kLmdb, open_lmdb),
       .suffixes = source::kLmdbSuffixes,
       .words = kLmdbWords,
       .is_packed = true,
       .knows_classes = true},
      {.row = {"video",
               "Read frames of videos with FFmpeg: MP4, MKV, WebM, or a folder and all below it. "
               "?every=N takes every N-th frame of each video.",
               no_ffmpeg},
       .form = SampleForm::image,
       .open = if_built(built_with::kFfmpeg, open_video),
       .suffixes = source::kVideoSuffixes,
       .words = kVideoWords,
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
      row(FileAccess::mmap, false, false, source::make_mmap_reader),
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
