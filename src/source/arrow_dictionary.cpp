#include <algorithm>

#include "loaderscope/errors.h"
#include "source/arrow_values.h"

namespace loaderscope::source {

ArrowDictionary::ArrowDictionary(const ArrowField& field, Bytes largest)
    : as_(*field.dictionary), held_{field}, largest_(largest) {
  held_.front().dictionary.reset();
}

void ArrowDictionary::add(StoredObject& file, const Extent& body,
                          const ArrowDictionaryBatch& more) {
  if (!more.is_more) values_ = {};
  if (more.batch.rows == 0) return;
  ArrowBatchReading reading(file, more.batch, body, largest_);
  const ArrowValues added = reading.values(place_in_batch(held_, more.batch, 0), 0);
  if (values_.rows > 0 && (values_.codec || added.codec))
    throw ValueError("has a packed dictionary that continues, which is not read",
                     "write it without compression, or as a whole");
  const Bytes before = values_.rows > 0 ? values_.begin : added.begin;
  values_.codec = added.codec;
  values_.unpacked = added.unpacked;
  values_.length =
      std::max(values_.rows > 0 ? before + values_.length : 0, added.begin + added.length) -
      std::min(before, added.begin);
  values_.begin = std::min(before, added.begin);
  for (std::int64_t row = 0; row < added.rows; ++row) {
    ArrowPlace place = added.place_of(row, 0);
    if (!added.codec) place.begin += added.begin;
    values_.places.push_back(place);
    values_.is_there.push_back(!added.is_null(row));
  }
  values_.rows += added.rows;
}

ArrowValues ArrowDictionary::values_of(ArrowBatchReading& reading, const LeafPlace& place) const {
  const std::vector<std::int64_t> numbers = reading.numbers(place, as_);
  ArrowValues values;
  values.rows = std::ssize(numbers);
  values.begin = values_.begin;
  values.length = values_.length;
  values.codec = values_.codec;
  values.unpacked = values_.unpacked;
  values.places.resize(numbers.size());
  values.is_there.resize(numbers.size(), false);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == -1) continue;
    if (numbers[i] < 0 || numbers[i] >= values_.rows)
      throw ValueError("is damaged: a row names what its dictionary does not hold");
    const auto at = static_cast<std::size_t>(numbers[i]);
    values.is_there[i] = values_.is_there[at];
    values.places[i] = values_.places[at];
    if (!values_.codec) values.places[i].begin -= values_.begin;
  }
  return values;
}

}  // namespace loaderscope::source
