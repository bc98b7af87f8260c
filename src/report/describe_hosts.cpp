// The machines that a job ran on.
#include "analysis/host_rates.h"
#include "analysis/totals.h"
#include "report/describe.h"

namespace loaderscope {
namespace {

void format_pace(ResultVisitor& form, const HostRate& pace, bool has_busy) {
  form.object("pace", "of its ranks together, in the window", [&] {
    form.shown("samples_per_s", pace.samples_per_s, "the sum, per second", kNotNegative);
    form.shown("read_bytes_per_s", pace.read_bytes_per_s, "stored bytes, the sum, per second",
               kNotNegative);
    form.shown("busy", has_busy ? std::optional(busy_share(pace.account)) : std::nullopt,
               "share of the window, the mean; null without compute", kShare);
    form.shown("own_waits", pace.own_waits(),
               "share of the window, the mean, without waits for slower ranks", kShare);
    form.shown("waits_for_ranks", pace.waits_for_ranks(),
               "share of the window, the mean: it was ready and waited for the slowest", kShare);
    form.shown_seconds("decode_of_sample_s", static_cast<Nanos>(pace.decode_of_sample),
                       "decoding a sample, without what threads waited for a core, seconds");
    form.shown_seconds("read_of_sample_s", static_cast<Nanos>(pace.read_of_sample),
                       "reading a sample, without what threads waited for a core, seconds");
  });
}

void describe_host(ResultVisitor& form, HostRecord& host) {
  form.object("machine", "what it is", [&] { describe_machine(form, host.machine); });
  form.whole("ranks", host.ranks,
             "ranks of the job on this host, numbered after those of the host before",
             {.least = 1});
  form.optional("clock_offset_s", host.clock_offset, AbsentValue::left_out, [&](Nanos& offset) {
    form.seconds("clock_offset_s", offset,
                 "its clock less that of the first host, seconds; absent where they were not "
                 "compared, and times of its ranks are not on the first host's clock",
                 kAnyTime);
  });
  form.optional("clock_error_s", host.clock_error, AbsentValue::left_out, [&](Nanos& error) {
    form.seconds("clock_error_s", error, "how far that can be wrong, seconds");
  });
  describe_metrics(form, host.metrics);
  form.text_or_null("ended_early", host.ended_early, "why its ranks did; null: they did not");
}

}  // namespace

void describe_machine(ResultVisitor& form, MachineFacts& machine) {
  form.text("cpu", machine.cpu, "model of the CPU");
  form.text("os", machine.os, "operating system");
  form.text("kernel", machine.kernel, "version of the kernel");
  // A machine has some; of a trace's nothing is known.
  const auto if_any = [&](const char* name, auto& value, const auto& describe) {
    auto some = value > 0 ? std::optional(value) : std::nullopt;
    form.optional(name, some, AbsentValue::null, describe);
    if (form.reads()) value = some.value_or(0);
  };
  if_any("logical_cpus", machine.logical_cpus, [&](auto& value) {
    form.whole("logical_cpus", value, "logical CPUs of the machine; null: not known");
  });
  if_any("cores", machine.cores, [&](auto& value) {
    form.real("cores", value, "usable CPUs by affinity and quota; null: not known", kNotNegative);
  });
  if_any("memory_bytes", machine.memory_bytes, [&](auto& value) {
    form.whole("memory_bytes", value, "physical memory, bytes; null: not known");
  });
  const auto text = [&](const char* name, std::optional<std::string>& value, const char* help) {
    form.optional(name, value, AbsentValue::left_out,
                  [&](std::string& known) { form.text(name, known, help); });
  };
  text("host", machine.host, "name of the machine");
  text("gpus", machine.gpus, "models of NVIDIA GPUs, as the driver says");
  text("gpu_driver", machine.gpu_driver, "version of the NVIDIA driver");
  text("unusable_gpu", machine.unusable_gpu, "why a GPU that is there was not used");
}

void describe_hosts(ResultVisitor& form, RunRecord& record, const Analysis& analysis) {
  std::vector<HostRate> paces;
  if (!form.reads()) paces = host_rates(record, analysis);
  std::size_t at = 0;
  form.if_there("hosts", !record.hosts.empty(), AbsentValue::left_out, [&] {
    form.list("hosts", record.hosts,
              "of a job over several, in the order of their ranks; absent of one",
              [&](HostRecord& host) {
                form.object("", "", [&] {
                  describe_host(form, host);
                  if (form.reads()) return;
                  format_pace(form, at < paces.size() ? paces[at] : HostRate{}, analysis.has_busy);
                  ++at;
                });
              });
  });
}

}  // namespace loaderscope
