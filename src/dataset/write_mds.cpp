// Shards of mosaicml-streaming (MDS). A shard has the number of samples, the begin of each sample
// and the end of the last one, as 32-bit numbers. Then follow the columns as JSON, and the samples.
// A hidden note next to each shard has its facts. index.json is made from the notes once all shards
// exist.
#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "dataset/files.h"
#include "dataset/writer.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

using Json = nlohmann::ordered_json;

constexpr Bytes kMaxOfShard = std::numeric_limits<std::uint32_t>::max();
constexpr Bytes kNumber = sizeof(std::uint32_t);
constexpr std::string_view kAnyImage = "bytes";  // a column of several formats

std::string raw_name(std::int64_t shard) { return fmt::format("shard.{:05}.mds", shard); }
std::string packed_name(const Container& container, std::int64_t shard) {
  if (container.compression == nullptr) return raw_name(shard);
  return raw_name(shard) + "." + std::string(container.compression->mds_word);
}
std::string note_path(const Container& container, std::int64_t shard) {
  return container.folder + "/." + raw_name(shard) + ".json";
}

// The library's name for a column of images of these names.
std::string_view suffix_encoding(std::string_view suffix) {
  if (suffix == ".jpg" || suffix == ".jpeg") return "jpeg";
  return suffix == ".png" ? "png" : kAnyImage;
}

Json columns(std::string_view image_encoding, bool has_labels) {
  Json json = {{"column_encodings", Json::array({image_encoding})},
               {"column_names", Json::array({"image"})},
               {"column_sizes", Json::array({nullptr})}};
  if (!has_labels) return json;
  json["column_encodings"].push_back("int");
  json["column_names"].push_back("label");
  json["column_sizes"].push_back(sizeof(std::int64_t));
  return json;
}

std::string config_text(const Container& container, std::string_view image_encoding) {
  Json json = columns(image_encoding, container.plan.classes > 0);
  json["compression"] =
      container.compression != nullptr ? Json(container.compression->mds_word) : Json();
  json["format"] = "mds";
  json["hashes"] = Json::array();
  json["size_limit"] = nullptr;
  return json.dump();
}

class MdsWriter final : public ShardWriter {
 public:
  MdsWriter(const Container& container, std::int64_t shard)
      : container_(container), shard_(shard), raw_(container.folder + "/" + raw_name(shard)) {
    const auto most = container.plan.first(shard + 1) - container.plan.first(shard);
    head_.resize(static_cast<std::size_t>(kNumber * (most + 2) +
                                          std::ssize(config_text(container, kAnyImage))));
    raw_.append(head_);
    offsets_.push_back(static_cast<std::uint32_t>(head_.size()));
  }

  void add(const PackedSample& sample) override {
    const auto size = static_cast<std::uint32_t>(sample.bytes.size());
    const std::int64_t label = sample.label;
    const Bytes end = raw_.bytes() + kNumber + std::ssize(sample.bytes) + Bytes{sizeof label};
    if (end > kMaxOfShard)
      throw RunError(shown_text(container_.folder) + ": a shard of mds holds less than 4 GiB",
                     "give a smaller --shard-size");
    raw_.append(std::as_bytes(std::span(&size, 1)));
    raw_.append(sample.bytes);
    if (container_.plan.classes > 0) raw_.append(std::as_bytes(std::span(&label, 1)));
    offsets_.push_back(static_cast<std::uint32_t>(raw_.bytes()));
    const std::string_view encoding = suffix_encoding(sample.suffix);
    if (encoding_.empty()) encoding_ = encoding;
    if (encoding_ != encoding) encoding_ = kAnyImage;
  }

  void finish() override {
    put_head();
    const auto packed = container_.compression != nullptr ? pack() : nullptr;
    OutputFile& file = packed ? *packed : raw_;
    const Json note = {{"samples", offsets_.size() - 1},
                       {"encoding", encoding_},
                       {"bytes", raw_.bytes()},
                       {"packed", file.bytes()}};
    write_whole(note_path(container_, shard_), note.dump());
    file.finish();
    written_ = file.bytes();
  }
  Bytes bytes() const override { return written_; }

 private:
  // Omitted samples leave room after the columns.
  void put_head() {
    const std::string config = config_text(container_, encoding_.empty() ? kAnyImage : encoding_);
    const auto count = static_cast<std::uint32_t>(offsets_.size() - 1);
    std::vector<std::byte> head;
    const auto add = [&head](std::span<const std::byte> bytes) {
      head.insert(head.end(), bytes.begin(), bytes.end());
    };
    add(std::as_bytes(std::span(&count, 1)));
    add(std::as_bytes(std::span(offsets_)));
    add(std::as_bytes(std::span(config)));
    head.resize(head_.size(), std::byte{' '});
    raw_.put(0, head);
  }

  std::unique_ptr<OutputFile> pack() {
    auto packed = std::make_unique<OutputFile>(
        container_.folder + "/" + packed_name(container_, shard_), container_.compression);
    packed->append_file(raw_);
    return packed;
  }

  const Container& container_;
  const std::int64_t shard_;
  OutputFile raw_;
  std::vector<std::byte> head_;
  std::vector<std::uint32_t> offsets_;
  std::string_view encoding_;
  Bytes written_ = 0;
};

Json read_note(const Container& container, std::int64_t shard) {
  const std::string path = note_path(container, shard);
  std::ifstream input(path, std::ios::binary);
  const Json note = Json::parse(input, nullptr, false);
  const auto is_number = [&](const char* name) {
    return note.contains(name) && note[name].is_number_unsigned();
  };
  const bool is_whole = note.is_object() && is_number("samples") && is_number("bytes") &&
                        is_number("packed") && note.contains("encoding") &&
                        note["encoding"].is_string();
  if (is_whole) return note;
  throw RunError(
      shown_text(path) + ": is missing or damaged",
      "remove " + shown_text(packed_name(container, shard)) + " next to it, and pack again");
}

Json index_entry(const Container& container, std::int64_t shard, const Json& note,
                 std::string_view encoding) {
  Json entry = columns(encoding, container.plan.classes > 0);
  const auto file = [](const std::string& name, const Json& bytes) {
    return Json{{"basename", name}, {"bytes", bytes}, {"hashes", Json::object()}};
  };
  const bool is_packed = container.compression != nullptr;
  entry["compression"] = is_packed ? Json(container.compression->mds_word) : Json();
  entry["format"] = "mds";
  entry["hashes"] = Json::array();
  entry["raw_data"] = file(raw_name(shard), note["bytes"]);
  entry["samples"] = note["samples"];
  entry["size_limit"] = nullptr;
  entry["version"] = 2;
  entry["zip_data"] = is_packed ? file(packed_name(container, shard), note["packed"]) : Json();
  return entry;
}

}  // namespace

std::string mds_path(const Container& container, std::int64_t shard) {
  return container.folder + "/" + packed_name(container, shard);
}

std::unique_ptr<ShardWriter> open_mds_writer(const Container& container, std::int64_t shard) {
  return std::make_unique<MdsWriter>(container, shard);
}

// Leaves out shards without samples.
void write_mds_index(const Container& container) {
  std::vector<std::pair<std::int64_t, Json>> notes;
  for (std::int64_t shard = 0; shard < container.plan.shards; ++shard) {
    Json note = read_note(container, shard);
    if (note["samples"] != 0) notes.emplace_back(shard, std::move(note));
  }
  Json encoding = notes.empty() ? Json(kAnyImage) : notes.front().second["encoding"];
  for (const auto& [shard, note] : notes) {
    if (note["encoding"] != encoding) encoding = kAnyImage;
  }
  Json index = {{"shards", Json::array()}, {"version", 2}};
  for (const auto& [shard, note] : notes)
    index["shards"].push_back(index_entry(container, shard, note, encoding.get<std::string>()));
  write_whole(container.folder + "/index.json", index.dump());
}

}  // namespace loaderscope::dataset
