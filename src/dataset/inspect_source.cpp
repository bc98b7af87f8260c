// Inspection of shards, arrays and containers: sample by sample, with their source.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "base/thread_team.h"
#include "dataset/info.h"
#include "dataset/inspector.h"
#include "dataset/sample_classes.h"
#include "record/family_traits.h"
#include "source/registry.h"

namespace loaderscope::dataset {
namespace {

constexpr int kMaxStreams = 16;

class SourceInspection {
 public:
  SourceInspection(const DataText& data, const InfoContext& context)
      : data_(data), context_(context), team_(context.stop_signal) {
    info_.path = data.path;
    info_.format = data.row->row.name;
    info_.checked = static_cast<bool>(context.make_decoder);
  }

  DatasetInfo run() {
    open();
    const bool is_array = source_traits(data_.row->row.name).form == SampleForm::array;
    if (is_array) info_.layout = source_->layout();
    if (is_array && !info_.checked) {
      info_.samples = std::max<std::int64_t>(source_->size(), 0);
    } else {
      const StreamSource* streams = source_->size() < 0 ? source_->streams() : nullptr;
      look_at_all(streams);
    }
    if (source_->size() >= 0) count_classes();
    measure_objects();
    info_.shuffle = shuffle_quality(orders_in_their_order(), again_);
    if (info_.shuffle) info_.shuffle->memory = source_->bytes_read_ahead();
    info_.interrupted = team_.stopping();
    info_.notes = source_->notes();
    return std::move(info_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Without the index that an earlier run left, so that its time is that of a first run.
  void open() {
    SourceOptions options;
    options.paths = {data_.path};
    options.words = data_.words;
    options.use_index_cache = false;
    SourceContext opening;
    opening.stop_signal = context_.stop_signal;
    opening.on_progress = [this](const SourceProgress& progress) {
      if (context_.on_progress) context_.on_progress({progress.done, 0});
    };
    const auto begin = Clock::now();
    source_ = data_.row->open(options, opening);
    info_.index = std::chrono::nanoseconds(Clock::now() - begin).count();
  }

  void look_at_all(const StreamSource* streams) {
    int threads = context_.threads;
    if (streams != nullptr) {
      parts_ =
          static_cast<std::int32_t>(std::clamp<std::int64_t>(streams->shards(), 1, kMaxStreams));
      threads = threads > 0 ? std::min(threads, parts_) : 0;
    }
    team_.run(
        threads, [&] { streams ? look_at_streams(*streams) : look_at_samples(); },
        [this] {
          if (context_.on_progress) context_.on_progress({looked_at_, 0});
        });
  }

  void look_at_samples() {
    constexpr std::int64_t kAtOnce = 128;
    Inspector inspector("", context_);
    const std::unique_ptr<SampleReader> reader = source_->make_reader();
    const std::int64_t size = source_->size();
    for (std::int64_t at = next_.fetch_add(kAtOnce); at < size; at = next_.fetch_add(kAtOnce)) {
      const std::int64_t end = std::min(at + kAtOnce, size);
      for (std::int64_t i = at; i < end && !team_.stopping(); ++i, ++looked_at_)
        read(inspector, *reader, i);
    }
    merge(inspector);
  }

  void read(Inspector& inspector, SampleReader& reader, std::int64_t sample) {
    try {
      book(inspector, source_->describe(sample), reader.read(sample));
    } catch (const SampleError& error) {
      inspector.book_damaged(source_->describe(sample), error.what());
    }
  }

  void book(Inspector& inspector, const std::string& name, std::span<const std::byte> stored) {
    if (source_traits(data_.row->row.name).form == SampleForm::image)
      inspector.inspect(name, stored);
    else
      inspector.book_array();
  }

  // One part after another, each as a worker would have it.
  void look_at_streams(const StreamSource& streams) {
    Inspector inspector("", context_);
    SubstageListener stages;
    for (std::int64_t part = next_++; part < parts_ && !team_.stopping(); part = next_++) {
      StreamConsumer own;
      own.worker = static_cast<std::int32_t>(part);
      own.workers = parts_;
      const auto stream = streams.make_stream(own, stages);
      stream->begin_epoch(0);
      SampleOrder order;
      for (; !team_.stopping() && look_at_next(inspector, *stream); ++looked_at_)
        order.push_back(stream->sample());
      if (part == 0) again_ = order_of_next_epoch(*stream);
      const std::lock_guard lock(mutex_);
      orders_.emplace(part, std::move(order));
    }
    merge(inspector);
  }

  SampleOrder order_of_next_epoch(SampleStream& stream) {
    SampleOrder order;
    stream.begin_epoch(1);
    for (bool more = true; more && !team_.stopping();) {
      try {
        more = stream.next().has_value();
      } catch (const SampleError&) {  // counted in the first epoch
      }
      if (more) order.push_back(stream.sample());
    }
    return order;
  }

  std::vector<SampleOrder> orders_in_their_order() {
    std::vector<SampleOrder> orders;
    for (auto& [part, order] : orders_) {
      if (!order.empty()) orders.push_back(std::move(order));
    }
    return orders;
  }

  bool look_at_next(Inspector& inspector, SampleStream& stream) {
    try {
      const auto stored = stream.next();
      if (stored) book(inspector, stream.place(), *stored);
      return stored.has_value();
    } catch (const SampleError& error) {
      inspector.book_damaged(stream.place(), error.what());
      return true;
    }
  }

  void merge(const Inspector& inspector) {
    const std::lock_guard lock(mutex_);
    info_.merge(inspector.seen());
  }

  void count_classes() {
    std::map<std::string, std::int64_t, std::less<>> classes;
    const bool have_all =
        for_each_class(data_, source_->size(), context_.stop_signal, [&](std::string_view name) {
          if (const auto found = classes.find(name); found != classes.end())
            ++found->second;
          else
            classes.emplace(name, 1);
        });
    if (have_all) info_.classes = std::move(classes);
  }

  void measure_objects() {
    const Objects* objects = source_->stored_objects();
    if (objects == nullptr || !source_traits(data_.row->row.name).is_packed) return;
    info_.objects = objects->objects();
    std::string path;
    for (std::int64_t i = 0; i < info_.objects && !team_.stopping(); ++i) {
      objects->get_path(i, path);
      struct stat status {};
      if (::stat(path.c_str(), &status) == 0) info_.object_bytes.add(status.st_size);
      info_.stored += status.st_size;
    }
  }

  const DataText& data_;
  const InfoContext& context_;
  ThreadTeam team_;
  std::unique_ptr<Source> source_;
  std::int32_t parts_ = 1;
  std::atomic<std::int64_t> next_{0}, looked_at_{0};
  std::mutex mutex_;
  std::map<std::int64_t, SampleOrder> orders_;  // samples of each stream
  SampleOrder again_;                           // samples of the first stream in the next epoch
  DatasetInfo info_;  // mutex_ protects the fields that samples change while threads run
};

DataText parsed(const std::string& data) {
  try {
    return parse_data(data, "");
  } catch (const ValueError& error) {
    throw add_place<UsageError>(shown_text(data) + ": ", error);
  }
}

}  // namespace

DatasetInfo inspect_dataset(const std::string& data, const InfoContext& context) {
  const DataText said = parsed(data);
  if (said.row == nullptr || said.row->takes_list) return inspect_folder(said.path, context);
  if (said.row->open == nullptr)
    throw UsageError(shown_text(data) + ": has no samples to inspect",
                     "give a folder of images, or files such as tar:shards");
  return SourceInspection(said, context).run();
}

}  // namespace loaderscope::dataset
