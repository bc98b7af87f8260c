// Chunks of LitData as a source: items. For rows of plain values, LitData since 0.2.74 writes an
// Arrow file after the head of a chunk.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "built_with.h"
#include "loaderscope/errors.h"
#include "source/arrow.h"
#include "source/arrow_file.h"
#include "source/items.h"
#include "source/named_files.h"
#include "source/store.h"
#include "source/table_source.h"

namespace loaderscope::source {
namespace {

struct TablePlace {
  Bytes begin = 0, length = 0;
};

// Magic at the end of a chunk, after the table and its 32-bit length.
constexpr std::string_view kRowsMagic{"LDARW01\0", 8};

// Returns nothing for a chunk of items. Throws ValueError.
std::optional<TablePlace> table_in_chunk(StoredObject& chunk) {
  std::array<std::byte, sizeof(std::uint32_t) + kRowsMagic.size()> tail{};
  const Bytes table_end = chunk.size() - std::ssize(tail);
  if (table_end < 0 || chunk.read(table_end, tail) < tail.size()) return std::nullopt;
  if (std::memcmp(tail.data() + sizeof(std::uint32_t), kRowsMagic.data(), kRowsMagic.size()) != 0)
    return std::nullopt;
  std::uint32_t length = 0;
  std::memcpy(&length, tail.data(), sizeof length);
  if (length > table_end) throw ValueError("is damaged: its rows should begin in front of it");
  return TablePlace{table_end - length, length};
}

// A part of an object, as an object of its own.
class PartOfObject final : public StoredObject {
 public:
  PartOfObject(StoredObject& whole, TablePlace place) : whole_(whole), place_(place) {}

  Bytes size() const override { return place_.length; }
  FolderStamp stamp() const override { return whole_.stamp(); }
  std::size_t read(Bytes begin, std::span<std::byte> to) override {
    if (begin < 0 || begin >= place_.length) return 0;
    const Bytes most = std::min<Bytes>(std::ssize(to), place_.length - begin);
    return whole_.read(place_.begin + begin, to.first(static_cast<std::size_t>(most)));
  }

 private:
  StoredObject& whole_;
  TablePlace place_;
};

[[maybe_unused]] ArrowLayout read_rows_of_chunk(StoredObject& chunk, const TableWords& words,
                                                Bytes largest) {
  const std::optional<TablePlace> place = table_in_chunk(chunk);
  if (!place)
    throw ValueError("has items, and other chunks have rows",
                     "write the data set again as a whole");
  PartOfObject rows(chunk, *place);
  ArrowLayout layout = read_arrow_layout(rows, words.choose, words.column, largest);
  for (ArrowValues& values : layout.batches) values.begin += place->begin;
  return layout;
}

bool has_rows(const OpenShard& chunk) {
  try {
    return table_in_chunk(*find_store(chunk.path).open(chunk.path)).has_value();
  } catch (const ValueError&) {
    return false;  // reading it will report the fault
  }
}

// The paths of all chunks, where the first has rows.
std::vector<std::string> chunks_with_rows(const std::vector<ItemFolder>& folders) {
  std::vector<std::string> chunks;
  for (const ItemFolder& folder : folders) {
    for (const OpenShard& chunk : folder.shards) {
      if (chunk.about.items == 0) continue;
      if (chunks.empty() && (folder.is_packed || !has_rows(chunk))) return {};
      chunks.push_back(chunk.path);
    }
  }
  return chunks;
}

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_litdata(const SourceOptions& options, const SourceContext& context) {
  std::vector<source::ItemFolder> folders =
      source::open_item_folders(options.paths, source::parse_litdata_index);
  const std::vector<std::string> chunks = source::chunks_with_rows(folders);
  if (chunks.empty()) return source::open_items(options, context, std::move(folders));
  if (source::opens_each_time(options.words))
    throw UsageError("data: open=sample is for chunks of items, and these hold rows of Arrow",
                     "leave open=sample out");
  if constexpr (built_with::kFlatbuffers.is_built) {
    const auto read = [&](source::StoredObject& chunk, const source::TableWords& words) {
      return source::read_rows_of_chunk(chunk, words, options.largest_sample);
    };
    return source::open_arrow_tables(options, context, chunks, read, {});
  } else {
    throw RunError(chunks.front() + ": holds rows of Arrow, and this program is " +
                   describe_missing(built_with::kFlatbuffers));
  }
}

}  // namespace loaderscope
