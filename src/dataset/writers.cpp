#include <fmt/format.h>

#include <algorithm>

#include "built_with.h"
#include "dataset/writer.h"
#include "loaderscope/errors.h"
#include "source/registry.h"
#include "source/tfrecord.h"

namespace loaderscope::dataset {

namespace {

// Formats that cannot be read here are not written either.
template <const auto& name>
std::optional<std::string> as_source_says() {
  return source_row(name).row.reason_not_available();
}
constexpr std::string_view kLmdb = "lmdb", kHdf5 = "hdf5";

}  // namespace

std::string shard_path(const Container& container, std::int64_t shard, std::string_view ending) {
  return fmt::format("{}/shard-{:06}{}", container.folder, shard, ending);
}
std::string tfrecord_path(const Container& container, std::int64_t shard) {
  return shard_path(container, shard, ".tfrecord");
}
std::string parquet_path(const Container& container, std::int64_t shard) {
  return shard_path(container, shard, ".parquet");
}
std::string lmdb_path(const Container& container, std::int64_t shard) {
  return shard_path(container, shard, ".mdb");
}
std::string hdf5_path(const Container& container, std::int64_t shard) {
  return shard_path(container, shard, ".h5");
}

std::span<const WriterRow> writer_table() {
  static const WriterRow rows[] = {
      {{"tar", "Shards of images as WebDataset reads them: shard-000000.tar, ..."},
       tar_path,
       open_tar_writer,
       nullptr,
       &CompressionRow::ending,
       "?stream=1"},
      {.row = {"files", "Write image files, a folder per class: class_000/000000031.jpg."},
       .stored_path = files_note_path,
       .open = open_files_writer,
       .is_loose = true},
      {{"mds", "Shards of mosaicml-streaming with index.json: columns image and label."},
       mds_path,
       open_mds_writer,
       write_mds_index,
       &CompressionRow::mds_word},
      {{"tfrecord",
        "TFRecord files of tf.train.Example: image/encoded, image/class/label, image/filename.",
        source::no_crc32c},
       tfrecord_path,
       open_tfrecord_writer},
      {.row = {"parquet",
               "Write Parquet files as Hugging Face's datasets does. Its columns are image (bytes, "
               "path) and label."},
       .stored_path = parquet_path,
       .open = open_parquet_writer,
       .packed_ending = &CompressionRow::page_word,
       .takes_row_groups = true},
      {.row = {"npy", "NumPy arrays of pixels, all images of one size; the labels below labels/."},
       .stored_path = npy_path,
       .open = open_npy_writer,
       .takes_pixels = true},
      {.row = {"lmdb",
               "Write LMDB files, an image per key. With classes, a value is Caffe's Datum of "
               "image and class.",
               as_source_says<kLmdb>},
       .stored_path = lmdb_path,
       .open = if_built(built_with::kLmdb, open_lmdb_writer)},
      {.row = {"hdf5", "HDF5 files of pixels, all images of one size: data sets images and labels.",
               as_source_says<kHdf5>},
       .stored_path = hdf5_path,
       .open = if_built(built_with::kHdf5, open_hdf5_writer),
       .takes_pixels = true},
      {.row = {"tokens",
               "Tokens of text, of data make only: tokens.bin, with --documents Megatron's "
               "tokens.idx."},
       .stored_path = nullptr,
       .open = nullptr,
       .holds_tokens = true},
  };
  return rows;
}

// The first ones have a sample more where they are not all as many.
std::int64_t ShardPlan::first(std::int64_t shard) const {
  return shard * (samples / shards) + std::min(shard, samples % shards);
}

Target parse_target(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  const auto is_named = [&](const auto& entry) { return entry.row.name == word; };
  const auto writers = writer_table();
  const auto sources = source_table();
  const bool is_format = std::any_of(writers.begin(), writers.end(), is_named) ||
                         std::any_of(sources.begin(), sources.end(), is_named);
  if (colon == text.npos || !is_format) return {nullptr, std::string(text)};
  return {&find_row(word, writers), std::string(text.substr(colon + 1))};
}

const CompressionRow& parse_compression(std::string_view text) {
  const CompressionRow& row = find_row(text, compression_table());
  if (row.make_packer == nullptr) throw ValueError("cannot be written", "give zstd, gzip or lz4");
  return row;
}

void check_compression(const WriterRow& writer, const CompressionRow* compression) {
  if (compression == nullptr) return;
  const auto ending = writer.packed_ending;
  if (ending == nullptr)
    throw UsageError(fmt::format("--compress: {} is not compressed", writer.row.name),
                     "give a folder such as tar:shards, or leave --compress out");
  if ((compression->*ending).empty())
    throw UsageError(fmt::format("--compress: readers of {} cannot unpack {}", writer.row.name,
                                 compression->row.name),
                     "give zstd or gzip");
}

std::string data_text(const WriterRow& writer, const std::string& folder,
                      const CompressionRow* compression) {
  return fmt::format("{}:{}{}", writer.row.name, folder,
                     compression != nullptr ? writer.packed_words : "");
}

std::string sample_key(std::int64_t number) { return fmt::format("{:09}", number); }

}  // namespace loaderscope::dataset
