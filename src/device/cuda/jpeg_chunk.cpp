#include "device/cuda/jpeg_chunk.h"

#include "loaderscope/errors.h"

namespace loaderscope::cuda {

using nvjpeg::Code;

std::size_t JpegTask::bytes() const {
  return (static_cast<std::size_t>(region.height) - 1) * stride +
         static_cast<std::size_t>(region.width) * 3;
}

JpegChunk::JpegChunk(NvjpegSession& session, std::size_t capacity)
    : session_(session),
      done_(session.objects().event()),
      tasks_(capacity),
      lengths_(capacity),
      data_(capacity),
      destinations_(capacity) {
  Nvjpeg& nvjpeg = session_.nvjpeg();
  session_.check("a state", nvjpeg.make_state(session_.handle(), state_));
  params_.resize(capacity);
  for (nvjpeg::Params& params : params_)
    session_.check("parameters", nvjpeg.make_params(session_.handle(), params));
}

JpegChunk::~JpegChunk() {
  if (session_.is_abandoned()) return;
  for (nvjpeg::Params params : params_) session_.nvjpeg().free_params(params);
  session_.nvjpeg().free_state(state_);
}

bool JpegChunk::wait(const WaitLimit& limit) {
  return !is_submitted_ || wait_within(session_.runtime(), session_.objects(), done_, limit);
}

void JpegChunk::add(std::size_t task, const JpegTask& image) {
  tasks_[count_] = task;
  data_[count_] = reinterpret_cast<const unsigned char*>(image.stored.data());
  lengths_[count_] = image.stored.size();
  destinations_[count_] = {};
  destinations_[count_].channel[0] = reinterpret_cast<unsigned char*>(image.to);
  destinations_[count_].pitch[0] = image.stride;
  ++count_;
}

Code JpegChunk::allocate(int width, int height) {
  return session_.nvjpeg().allocate(session_.handle(), state_, tasks_.size(), width, height);
}

Code JpegChunk::decode(std::size_t first, std::size_t count, Stream stream) {
  Nvjpeg& nvjpeg = session_.nvjpeg();
  Code code = nvjpeg.begin_batch(session_.handle(), state_, count);
  if (code == Code::success) {
    JpegBatch batch;
    batch.count = count;
    batch.data = &data_[first];
    batch.lengths = &lengths_[first];
    batch.destinations = &destinations_[first];
    batch.params = nvjpeg::takes_params(session_.backend()) ? &params_[first] : nullptr;
    code = nvjpeg.decode(session_.handle(), state_, batch, stream);
  }
  // Also after a failure: a part of the work may have been submitted. A lost device is reported
  // here, before the caller tries the images again.
  session_.check("gpu-decode", session_.runtime().record(done_, stream));
  is_submitted_ = true;
  return code;
}

}  // namespace loaderscope::cuda
