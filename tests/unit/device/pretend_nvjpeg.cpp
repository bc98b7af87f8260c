#include "unit/device/pretend_nvjpeg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "dataset/image_facts.h"
#include "dataset/jpeg_engines.h"
#include "loaderscope/errors.h"

namespace loaderscope::cuda {
namespace {

using nvjpeg::Code;

// Adds an object and returns it as the handle that the caller sees.
template <class Opaque, class Objects, class Pointer>
Opaque keep(Objects& all, Pointer object) {
  void* key = object.get();
  all[key] = std::move(object);
  return static_cast<Opaque>(key);
}

template <class Objects>
auto* find(const Objects& all, void* key) {
  const auto found = all.find(key);
  if (found != all.end()) return found->second.get();
  ADD_FAILURE() << "nvJPEG is called with an object that does not exist";
  return static_cast<decltype(found->second.get())>(nullptr);
}

template <class Objects>
Code erase(Objects& all, void* key) {
  if (all.erase(key) == 1) return Code::success;
  ADD_FAILURE() << "an object of nvJPEG is freed twice";
  return Code::invalid_parameter;
}

nvjpeg::Subsampling subsampling(std::string_view name) {
  using nvjpeg::Subsampling;
  if (name == "444") return Subsampling::s444;
  if (name == "422") return Subsampling::s422;
  if (name == "420") return Subsampling::s420;
  if (name == "440") return Subsampling::s440;
  if (name == "411") return Subsampling::s411;
  return name == "grey" ? Subsampling::grey : Subsampling::unknown;
}

std::span<const std::byte> stored_bytes(const JpegBatch& batch, std::size_t i) {
  return std::as_bytes(std::span(batch.data[i], batch.lengths[i]));
}

std::int64_t count_pixels(std::span<const std::byte> stored) {
  const dataset::ImageFacts facts = dataset::image_facts(stored);
  return facts.width * facts.height;
}

bool is_same(const std::optional<Region>& a, const std::optional<Region>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height;
}

}  // namespace

PretendNvjpeg::PretendNvjpeg(PretendRuntime& runtime)
    : runtime_(runtime), libjpeg_(make_any_decoder({})) {}

int PretendNvjpeg::calls(const std::string& call) const {
  const auto found = calls_.find(call);
  return found == calls_.end() ? 0 : found->second;
}

std::int64_t PretendNvjpeg::owned() const {
  return std::ssize(handles_) + std::ssize(states_) + std::ssize(headers_) + std::ssize(params_);
}

// --- objects ---

Code PretendNvjpeg::make_handle(nvjpeg::Backend backend, nvjpeg::Allocator* device,
                                nvjpeg::Allocator* pinned, nvjpeg::Handle& handle) {
  called("make_handle");
  if (nvjpeg::uses_engines(backend) && engines == 0) return Code::arch_mismatch;
  if (nvjpeg::reads_device(backend) && device_backends_give != Code::success)
    return device_backends_give;
  auto made = std::make_unique<PretendHandle>();
  made->backend = backend;
  if (device != nullptr) made->device = *device;
  if (pinned != nullptr) made->pinned = *pinned;
  handle = keep<nvjpeg::Handle>(handles_, std::move(made));
  return Code::success;
}

Code PretendNvjpeg::free_handle(nvjpeg::Handle handle) { return erase(handles_, handle); }

Code PretendNvjpeg::count_engines(nvjpeg::Handle handle, unsigned& engine_count,
                                  unsigned& core_count) {
  called("count_engines");
  if (find(handles_, handle) == nullptr) return Code::invalid_parameter;
  engine_count = engines;
  core_count = cores;
  return Code::success;
}

Code PretendNvjpeg::make_state(nvjpeg::Handle handle, nvjpeg::State& state) {
  auto made = std::make_unique<PretendState>();
  made->handle = find(handles_, handle);
  state = keep<nvjpeg::State>(states_, std::move(made));
  return Code::success;
}

Code PretendNvjpeg::free_state(nvjpeg::State state) {
  if (PretendState* pretended = find(states_, state)) {
    EXPECT_FALSE(*pretended->is_busy) << "a state is freed while it decodes";
    release(*pretended);
  }
  return erase(states_, state);
}

Code PretendNvjpeg::make_header(nvjpeg::Handle, nvjpeg::Header& header) {
  header = keep<nvjpeg::Header>(headers_, std::make_unique<PretendHeader>());
  return Code::success;
}

Code PretendNvjpeg::free_header(nvjpeg::Header header) { return erase(headers_, header); }

Code PretendNvjpeg::make_params(nvjpeg::Handle, nvjpeg::Params& params) {
  params = keep<nvjpeg::Params>(params_, std::make_unique<PretendParams>());
  return Code::success;
}

Code PretendNvjpeg::free_params(nvjpeg::Params params) { return erase(params_, params); }

// --- one image ---

Code PretendNvjpeg::parse(nvjpeg::Handle, std::span<const std::byte> stored, nvjpeg::Header header,
                          JpegFacts& facts) {
  called("parse");
  EXPECT_FALSE(runtime_.is_device_memory(stored.data(), stored.size()))
      << "the header of an image is parsed in device memory";
  const dataset::ImageFacts known = dataset::image_facts(stored);
  if (known.kind != dataset::Kind::jpeg || !known.damage.empty()) return Code::bad_jpeg;
  if (known.more_needed) return Code::incomplete_bitstream;
  facts.width = static_cast<unsigned>(known.width);
  facts.height = static_cast<unsigned>(known.height);
  facts.components = static_cast<unsigned>(known.components);
  facts.encoding = known.progressive ? nvjpeg::Encoding::progressive
                   : known.baseline  ? nvjpeg::Encoding::baseline
                                     : nvjpeg::Encoding::unknown;
  facts.subsampling = subsampling(known.subsampling);
  if (PretendHeader* pretended = find(headers_, header))
    pretended->is_for_engines = dataset::engine_refusal(known).empty();
  return Code::success;
}

Code PretendNvjpeg::set_region(nvjpeg::Params params, const Region& region) {
  called("set_region");
  if (PretendParams* pretended = find(params_, params)) pretended->region = region;
  return Code::success;
}

Code PretendNvjpeg::set_whole_image(nvjpeg::Params params) {
  called("set_whole_image");
  if (PretendParams* pretended = find(params_, params)) pretended->region.reset();
  return Code::success;
}

Code PretendNvjpeg::ask_support(nvjpeg::Handle handle, nvjpeg::Header header, nvjpeg::Params params,
                                bool& is_supported) {
  called("ask_support");
  EXPECT_TRUE(nvjpeg::uses_engines(find(handles_, handle)->backend));
  is_supported = find(headers_, header)->is_for_engines &&
                 (has_regions || !find(params_, params)->region.has_value());
  return Code::success;
}

// --- batches ---

Code PretendNvjpeg::grow(PretendState& state, std::size_t bytes, std::size_t pinned_bytes) {
  const auto grow_one = [](std::optional<nvjpeg::Allocator>& from, void*& place, std::size_t& size,
                           std::size_t wanted) {
    if (!from || wanted <= size) return true;
    if (place != nullptr) from->release(from->context, place, size, nullptr);
    place = nullptr;
    size = 0;
    if (from->allocate(from->context, &place, wanted, nullptr) != 0) return false;
    size = wanted;
    return true;
  };
  const bool fits = grow_one(state.handle->device, state.memory, state.bytes, bytes) &&
                    grow_one(state.handle->pinned, state.pinned, state.pinned_bytes, pinned_bytes);
  return fits ? Code::success : Code::allocator_failure;
}

void PretendNvjpeg::release(PretendState& state) {
  const auto release_one = [](std::optional<nvjpeg::Allocator>& from, void* place,
                              std::size_t size) {
    if (place != nullptr) {
      EXPECT_EQ(from->release(from->context, place, size, nullptr), 0);
    }
  };
  release_one(state.handle->device, state.memory, state.bytes);
  release_one(state.handle->pinned, state.pinned, state.pinned_bytes);
}

Code PretendNvjpeg::allocate(nvjpeg::Handle, nvjpeg::State state, std::size_t batch, int width,
                             int height) {
  called("allocate");
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  return grow(*find(states_, state), batch * 3 * pixels, batch * pixels);
}

Code PretendNvjpeg::begin_batch(nvjpeg::Handle, nvjpeg::State state, std::size_t batch) {
  called("begin_batch");
  PretendState* pretended = find(states_, state);
  EXPECT_FALSE(*pretended->is_busy) << "a state begins a batch while it decodes the last one";
  pretended->batch = batch;
  return Code::success;
}

void PretendNvjpeg::Decoded::write() const {
  EXPECT_EQ(std::memcmp(stored, bytes.data(), bytes.size()), 0)
      << "stored bytes changed before they were decoded";
  EXPECT_EQ(*data_entry, stored) << "the arrays of a call changed before its end";
  EXPECT_EQ(to_entry->channel[0], to.channel[0]) << "the arrays of a call changed before its end";
  if (params != nullptr) {
    EXPECT_TRUE(is_same(params->region, region))
        << "parameters changed before the end of their call";
  }
  const std::size_t rows = rgb.size() / row;
  for (std::size_t y = 0; y < rows; ++y)
    std::memcpy(to.channel[0] + y * to.pitch[0], rgb.data() + y * row, row);
}

// Returns nothing if libjpeg cannot decode it.
std::optional<PretendNvjpeg::Decoded> PretendNvjpeg::decode_one(const JpegBatch& batch,
                                                                std::size_t i) {
  Decoded decoded;
  decoded.stored = batch.data[i];
  decoded.bytes.assign(batch.data[i], batch.data[i] + batch.lengths[i]);
  decoded.to = batch.destinations[i];
  try {
    const ImageHeader header = libjpeg_->open(stored_bytes(batch, i));
    Region region{0, 0, header.width, header.height};
    decoded.data_entry = &batch.data[i];
    decoded.to_entry = &batch.destinations[i];
    if (batch.params != nullptr) {
      decoded.params = params_.at(batch.params[i]);
      decoded.region = decoded.params->region;
      region = decoded.region.value_or(region);
    }
    const Pixels pixels = libjpeg_->decode(region);
    decoded.row = static_cast<std::size_t>(region.width) * 3;
    for (int y = 0; y < region.height; ++y) {
      const std::uint8_t* row = pixels.data + static_cast<std::size_t>(y) * pixels.stride;
      decoded.rgb.insert(decoded.rgb.end(), row, row + decoded.row);
    }
  } catch (const SampleError&) {
    return std::nullopt;
  }
  return decoded;
}

Code PretendNvjpeg::find_result(const JpegBatch& batch) {
  const auto scripted = call_gives.find(calls("decode"));
  if (scripted != call_gives.end()) return scripted->second;
  for (std::size_t i = 0; image_gives && i < batch.count; ++i) {
    if (const Code code = image_gives(stored_bytes(batch, i)); code != Code::success) return code;
  }
  return Code::success;
}

void PretendNvjpeg::lose_device() {
  for (const char* call : {"record", "query", "synchronise", "synchronise_device", "copy_in"})
    runtime_.fail(call, runtime_.calls(call), "cudaErrorIllegalAddress");
}

Code PretendNvjpeg::decode(nvjpeg::Handle handle, nvjpeg::State state, const JpegBatch& batch,
                           Stream stream) {
  called("decode");
  batches_.push_back(batch.count);
  const nvjpeg::Backend backend = find(handles_, handle)->backend;
  const bool has_engines = nvjpeg::uses_engines(backend);
  EXPECT_EQ(batch.params != nullptr, nvjpeg::takes_params(backend));
  for (std::size_t i = 0; i < batch.count; ++i)
    EXPECT_EQ(runtime_.is_device_memory(batch.data[i], batch.lengths[i]),
              nvjpeg::reads_device(backend))
        << "stored bytes lie where the back end does not read them";
  PretendState& used = *find(states_, state);
  EXPECT_EQ(std::exchange(used.batch, 0), batch.count) << "a batch has not begun";
  if (calls("decode") == loses_at) {
    lose_device();
    return Code::execution_failed;
  }
  if (const Code code = find_result(batch); code != Code::success) {
    // A part of the work was submitted before the call failed.
    *used.is_busy = true;
    runtime_.submit_work(stream, "failed jpeg", image_takes,
                         [is_busy = used.is_busy] { *is_busy = false; });
    return code;
  }
  std::vector<Decoded> images;
  std::size_t bytes = 0, stored = 0;
  std::int64_t most_pixels = 0;
  for (std::size_t i = 0; i < batch.count; ++i) {
    if (pixel_rate > 0) most_pixels = std::max(most_pixels, count_pixels(stored_bytes(batch, i)));
    if (!writes_pixels) continue;
    std::optional<Decoded> decoded = decode_one(batch, i);
    if (!decoded) return damaged_gives;
    bytes += decoded->rgb.size();
    stored += decoded->bytes.size();
    images.push_back(std::move(*decoded));
  }
  if (const Code grown = grow(used, bytes, stored); grown != Code::success) return grown;
  if (calls("decode") == hangs_at) runtime_.hang(stream);
  const std::size_t together = has_engines ? std::size_t{engines} * cores : 1;
  const auto rounds = static_cast<Nanos>((batch.count + together - 1) / together);
  Nanos each = image_takes;
  if (pixel_rate > 0) each += std::llround(static_cast<double>(most_pixels) / pixel_rate);
  *used.is_busy = true;
  runtime_.submit_work(stream, "jpeg", rounds * each,
                       [images = std::move(images), is_busy = used.is_busy] {
                         for (const Decoded& image : images) image.write();
                         *is_busy = false;
                       });
  return Code::success;
}

}  // namespace loaderscope::cuda
