#include "guest/host/wrong_data/data_checks.h"

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMaxEpochs = 64;       // faults show in the first epochs
constexpr std::size_t kMaxGenerators = 256;  // generators of a data set

}  // namespace

void DataChecks::know(const DataReader& reader) { given_[reader.process].reader = reader; }

GivenData* DataChecks::kept(std::int64_t process, const DataEpoch& epoch) {
  GivenData& data = given_[process];
  if (data.epochs.size() == kMaxEpochs && !data.epochs.contains(epoch)) return nullptr;
  data.epochs.insert(epoch);
  return &data;
}

void DataChecks::hear(std::int64_t process, const OrderMessage& told) {
  GivenData* data = kept(process, told.epoch);
  if (data == nullptr) return;
  data->orders[told.epoch] = told.hash;
  if (told.shuffled) data->shuffled_orders[told.epoch] = told.hash;
}

void DataChecks::hear(std::int64_t process, const StreamMessage& told) {
  if (GivenData* data = kept(process, told.epoch))
    data->streams[told.epoch][told.worker] = told.hash;
}

void DataChecks::hear(std::int64_t process, const StreamEndMessage& told) {
  GivenData* data = kept(process, told.epoch);
  if (data == nullptr) return;
  GivenData::StreamEnd& end = data->stream_ends[told.epoch];
  end.samples[told.worker] = told.samples;
  end.workers = told.workers;
  end.declared = told.declared;
}

void DataChecks::hear(std::int64_t process, const DrawsMessage& told) {
  GivenData* data = kept(process, told.epoch);
  if (data == nullptr) return;
  for (const auto& [generator, hash] : told.hashes)
    data->draws[generator][told.epoch][told.worker] = hash;
  for (const std::string& own : told.own) {
    if (data->own_generators.size() < kMaxGenerators) data->own_generators.insert(own);
  }
}

void DataChecks::hear(std::int64_t process, const SettingsMessage& told) {
  GivenData* data = kept(process, told.epoch);
  if (data == nullptr) return;
  if (told.worker) {
    data->settings_of_workers[told.epoch][*told.worker] = told.values;
  } else {
    data->settings[told.epoch] = told.values;
  }
}

void DataChecks::hear(std::int64_t, const UnnamedMessage&) { unnamed_ = true; }

DataFaults DataChecks::faults() const {
  DataFaults faults;
  for (const auto check : {check_orders, check_streams, check_draws, check_settings})
    check(given_, faults);
  faults.add(unnamed_ ? 1 : 0, metric::data_unnamed_samples,
             "1: samples have no numbers that all processes know them by");
  return faults;
}

}  // namespace loaderscope::guest
