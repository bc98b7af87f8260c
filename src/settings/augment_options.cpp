// The operations on the host that a configuration asks for.
#include "loaderscope/augment.h"
#include "loaderscope/run_config.h"
#include "loaderscope/settings.h"

namespace loaderscope {

AugmentOptions augment_options(const RunConfig& config) {
  AugmentOptions options;
  options.operations = config.image.augment.value;
  // Bytes are normalised on a real device, and not by the loader.
  if (config.image.transfer == Transfer::u8 &&
      (!config.image.augment.given ||
       device_kind(config.trainer.device.value) == DeviceKind::gpu)) {
    std::erase_if(options.operations, [](const std::string& operation) {
      return operation.substr(0, operation.find(':')) == "normalise";
    });
  }
  options.size = static_cast<int>(config.image.size);
  options.transfer = config.image.transfer;
  options.layout = config.image.layout;
  options.antialias = config.image.antialias == OnOff::on;
  options.seed = static_cast<std::uint64_t>(config.measure.seed.value);
  return options;
}

}  // namespace loaderscope
