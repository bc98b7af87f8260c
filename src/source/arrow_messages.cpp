#include "source/arrow_messages.h"

#include <cstring>

#include "loaderscope/errors.h"
#include "source/arrow_tables.h"

namespace loaderscope::source {
namespace {

using namespace arrow_tables;

template <class T>
const T& root_of(std::span<const std::byte> bytes, const char* what) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  // Each field is two tables at least, and columns may be deep in one another.
  flatbuffers::Verifier verifier(data, bytes.size());
  if (bytes.size() >= sizeof(std::uint32_t) && verifier.VerifyBuffer<T>(nullptr))
    return *flatbuffers::GetRoot<T>(data);
  throw ValueError(std::string("is damaged: ") + what + " points outside of itself");
}

// A list's elements, as numbers of 64 bits.
std::vector<std::int64_t> numbers_in(const std::uint8_t* list, std::size_t each) {
  if (list == nullptr) return {};
  const std::size_t count = flatbuffers::ReadScalar<std::uint32_t>(list) * each;
  std::vector<std::int64_t> numbers(count);
  if (count > 0)
    std::memcpy(numbers.data(), list + sizeof(std::uint32_t), count * sizeof(std::int64_t));
  return numbers;
}

ArrowBatch batch_of(const BatchTable* described) {
  if (described == nullptr) throw ValueError("is damaged: a record batch is not described");
  const BatchTable& table = *described;
  ArrowBatch batch;
  batch.rows = table.number<std::int64_t>(BatchTable::length);
  const auto nodes = numbers_in(table.list(BatchTable::nodes), 2);
  for (std::size_t i = 0; i < nodes.size(); i += 2) {
    batch.rows_of_nodes.push_back(nodes[i]);
    batch.nulls_of_nodes.push_back(nodes[i + 1]);
  }
  const auto buffers = numbers_in(table.list(BatchTable::buffers), 2);
  for (std::size_t i = 0; i < buffers.size(); i += 2)
    batch.buffers.push_back({buffers[i], buffers[i + 1]});
  batch.extra_buffers = numbers_in(table.list(BatchTable::extra_buffers), 1);
  if (const auto* packed = table.part<CompressionTable>(BatchTable::compression))
    batch.codec = packed->number<std::int8_t>(CompressionTable::codec);
  return batch;
}

std::vector<ArrowBlock> blocks_in(const std::uint8_t* list) {
  std::vector<ArrowBlock> blocks;
  const auto numbers = numbers_in(list, kFooterBlock / sizeof(std::int64_t));
  for (std::size_t i = 0; i < numbers.size(); i += 3)
    blocks.push_back(
        {numbers[i], static_cast<std::int32_t>(numbers[i + 1] & 0xffffffff), numbers[i + 2]});
  return blocks;
}

}  // namespace

ArrowMessage parse_arrow_message(std::span<const std::byte> bytes) {
  const auto& table = root_of<MessageTable>(bytes, "a message");
  ArrowMessage message;
  message.body = table.number<std::int64_t>(MessageTable::body);
  const auto kind = table.number<std::uint8_t>(MessageTable::kind);
  if (kind == kSchemaMessage) {
    message.columns = columns_of_schema(table.part<SchemaTable>(MessageTable::content));
  } else if (kind == kBatchMessage) {
    message.batch = batch_of(table.part<BatchTable>(MessageTable::content));
  } else if (kind == kDictionaryMessage) {
    const auto* dictionary = table.part<DictionaryTable>(MessageTable::content);
    if (dictionary == nullptr) throw ValueError("is damaged: a dictionary is not described");
    message.dictionary = {dictionary->number<std::int64_t>(DictionaryTable::id),
                          dictionary->number<std::uint8_t>(DictionaryTable::is_more) != 0,
                          batch_of(dictionary->part<BatchTable>(DictionaryTable::values))};
  }
  return message;
}

ArrowFooter parse_arrow_footer(std::span<const std::byte> bytes) {
  const auto& table = root_of<FooterTable>(bytes, "the footer");
  return {columns_of_schema(table.part<SchemaTable>(FooterTable::schema)),
          blocks_in(table.list(FooterTable::dictionaries)),
          blocks_in(table.list(FooterTable::batches))};
}

}  // namespace loaderscope::source
