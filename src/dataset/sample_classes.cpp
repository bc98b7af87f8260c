#include "dataset/sample_classes.h"

#include <cctype>

#include "loaderscope/errors.h"
#include "source/manifest.h"

namespace loaderscope::dataset {
namespace {

constexpr std::size_t kMaxClass = 200;  // longer text describes a sample, not its class

std::string_view trimmed(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.remove_suffix(1);
  return text;
}

bool see_all(const Source& classes, std::int64_t samples, const SourceContext& context,
             const std::function<void(std::string_view)>& see) {
  if (classes.size() != samples) return false;
  const auto reader = classes.make_reader();
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    if (sample % 4096 == 0 && context.stopped()) return false;
    const std::string_view name = trimmed(reader->read(sample));
    if (name.empty() || name.size() > kMaxClass) return false;
    see(name);
  }
  return samples > 0;
}

}  // namespace

bool for_each_class(const DataText& data, std::int64_t samples, const std::atomic<int>* stop_signal,
                    const std::function<void(std::string_view)>& see) {
  if (!data.row->knows_classes) return false;
  SourceOptions options;
  options.paths = {data.path};
  options.words = data.words;
  options.classes = true;
  options.stop_signal = stop_signal;
  SourceContext context;
  context.stop_signal = stop_signal;
  const bool are_meant = data.words.contains("label");
  try {
    return see_all(*data.row->open(options, context), samples, context, see);
  } catch (const RunError&) {
    if (are_meant) throw;
  } catch (const SampleError& error) {
    if (are_meant)
      throw add_place<RunError>(shown_text(data.path) + " has a class that cannot be read: ",
                                error);
  }
  return false;
}

std::vector<std::int32_t> class_numbers(const DataText& data, std::int64_t samples,
                                        const std::atomic<int>* stop_signal) {
  source::LabelNames names;
  std::vector<std::int32_t> numbers;
  const bool have_all = for_each_class(data, samples, stop_signal, [&](std::string_view name) {
    numbers.push_back(names.add(name));
  });
  if (!have_all) return {};
  const std::vector<std::int32_t> labels = names.labels();
  for (std::int32_t& number : numbers) number = labels[static_cast<std::size_t>(number)];
  return numbers;
}

}  // namespace loaderscope::dataset
